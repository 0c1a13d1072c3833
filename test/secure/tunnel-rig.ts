import { createHmac, randomBytes } from 'node:crypto';
import { Counters } from '../../src/core/counters.ts';
import { ManualClock } from '../../src/core/time/clock.ts';
import { writeFrame } from '../../src/wire/codecs/frame.ts';
import { type DatagramHandler, type Outbox, type Peer, peerOf } from '../../src/wire/reactor.ts';
import { keyId } from '../../src/wire/secure/key-file.ts';
import { newKeyPair } from '../../src/wire/secure/noise.ts';
import { OperatorTunnel } from '../../src/wire/secure/operator-tunnel.ts';
import { RobotTunnel } from '../../src/wire/secure/robot-tunnel.ts';
import { type Impairment, LocalNetwork } from '../../src/wire/transports/local.ts';

const PORTS = [4750, 4751, 4752];
export const ROBOT = PORTS.map((port) => peerOf('127.0.0.1', port));
export const OPERATOR = PORTS.map((port) => peerOf('127.0.0.2', port));
export const STRANGER = peerOf('127.0.0.9', 9999);

export interface Captured {
  from: Peer;
  to: Peer;
  bytes: Uint8Array;
}

/** Sealed packets end their tag with "x" in every version; the rest is handshake. */
export const isHandshake = ({ bytes }: Captured): boolean => bytes[3] !== 0x78;

/** Remembers plain frames; sends one on every channel every 10 ms when given a target. */
class Ends implements DatagramHandler {
  readonly received: { socket: number; text: string; from: Peer; atNs: number }[] = [];
  #nextNs: number;
  readonly #send: ((nowNs: number) => void) | null;

  constructor(nowNs: number, send: ((nowNs: number) => void) | null) {
    this.#nextNs = send ? nowNs : Number.POSITIVE_INFINITY;
    this.#send = send;
  }

  nextDeadlineNs = () => this.#nextNs;
  onDeadline(nowNs: number) {
    this.#nextNs = nowNs + 10e6;
    this.#send?.(nowNs);
  }
  onOversize() {}
  onDatagram(socket: number, bytes: Uint8Array, length: number, from: Peer, atNs: number) {
    this.received.push({ socket, text: Buffer.from(bytes.slice(0, length)).toString(), from, atNs });
  }
}

export function frame(text: string): Uint8Array {
  const out = new Uint8Array(512);
  return out.slice(0, writeFrame('hello', { text }, out));
}

/** What an operator of the first release sends to connect. */
export function firstInit(key: Uint8Array): Uint8Array {
  const e = randomBytes(32);
  const mac = createHmac('sha256', key).update('init').update(e).digest('base64');
  return Buffer.from(`FH1i${JSON.stringify({ key: keyId(key), e: e.toString('base64'), mac })}`);
}

/** Forwards everything to a replaceable handler: a process that restarts on the same ports. */
class Restartable implements DatagramHandler {
  current: DatagramHandler | null = null;
  /** Datagrams passed to it, whatever happened to them. */
  received = 0;
  onDatagram(...args: Parameters<DatagramHandler['onDatagram']>) {
    this.received++;
    this.current?.onDatagram(...args);
  }
  onDeadline = (nowNs: number) => this.current?.onDeadline(nowNs);
  nextDeadlineNs = () => this.current?.nextDeadlineNs() ?? Number.POSITIVE_INFINITY;
  onOversize() {}
}

/**
 * A robot's and an operator's tunnel on a network that exposes everything and delivers what anyone injects.
 */
export class TunnelRig {
  readonly clock = new ManualClock();
  readonly captured: Captured[] = [];
  readonly operatorCounters = new Counters();
  readonly robotCounters = new Counters();
  readonly network: LocalNetwork;
  readonly robotEnd = new Restartable();
  readonly operatorEnd = new Restartable();
  /** Key agreements of all robots so far. */
  agreements = 0;
  robot!: Ends;
  robotTunnel!: RobotTunnel;
  operator!: Ends;
  operatorTunnel!: OperatorTunnel;
  #index = 100;
  #frameCount = 0;
  readonly #robotKeys: readonly Uint8Array[];
  readonly #operatorKey: Uint8Array;
  readonly #viewers: readonly string[];
  readonly #outboxes: { robot: Outbox; operator: Outbox };

  constructor(
    operatorKey?: Uint8Array,
    robotKeys?: readonly Uint8Array[],
    impair?: Impairment,
    viewers: readonly Uint8Array[] = [],
  ) {
    this.#viewers = viewers.map(keyId);
    const key = operatorKey ?? new Uint8Array(randomBytes(32));
    this.#operatorKey = key;
    this.#robotKeys = robotKeys ?? [key];
    this.network = new LocalNetwork(this.clock, (deadlineNs) => this.clock.advanceTo(deadlineNs), impair);
    const robot = this.network.endpoint('127.0.0.1', PORTS);
    const operator = this.network.endpoint('127.0.0.2', PORTS);
    robot.attach(this.robotEnd);
    operator.attach(this.operatorEnd);
    this.#outboxes = {
      robot: this.#tap(robot.outbox, ROBOT),
      operator: this.#tap(operator.outbox, OPERATOR),
    };
  }

  #tap(outbox: Outbox, from: readonly Peer[]): Outbox {
    return {
      send: (socket, bytes, length, to) => {
        // A Buffer's own slice() shares its memory: a forgery would change the sender's copy.
        this.captured.push({ from: from[socket]!, to, bytes: Uint8Array.from(bytes.subarray(0, length)) });
        return outbox.send(socket, bytes, length, to);
      },
    };
  }

  /** A new process: it has the keys and nothing else. It answers everything it receives. */
  startRobot(): void {
    const tunnel = new RobotTunnel(
      this.#outboxes.robot,
      this.#robotKeys,
      () => ++this.#index,
      this.robotCounters,
      {
        viewers: this.#viewers,
        newPair: () => {
          this.agreements++;
          return newKeyPair();
        },
      },
    );
    const robot = new Ends(this.clock.nowNs(), null);
    const receive = robot.onDatagram.bind(robot);
    robot.onDatagram = (socket, bytes, length, from, atNs) => {
      receive(socket, bytes, length, from, atNs);
      const answer = frame(`answer ${socket}`);
      tunnel.send(socket, answer, answer.length, from);
    };
    tunnel.attach(robot);
    this.robot = robot;
    this.robotTunnel = tunnel;
    this.robotEnd.current = tunnel;
  }

  /** A new process, which sends a frame on every channel every 10 ms; no two frames are equal. */
  startOperator(): void {
    const { operator: outbox } = this.#outboxes;
    const tunnel = new OperatorTunnel(outbox, this.#operatorKey, ROBOT, this.clock, this.operatorCounters);
    const operator = new Ends(this.clock.nowNs(), () => {
      for (let i = 0; i < 3; i++) {
        const bytes = frame(`to ${i}, ${this.#frameCount++}`);
        tunnel.send(i, bytes, bytes.length, ROBOT[i]!);
      }
    });
    tunnel.attach(operator);
    this.operator = operator;
    this.operatorTunnel = tunnel;
    this.operatorEnd.current = tunnel;
  }

  stopOperator(): void {
    this.operatorEnd.current = null;
  }

  start(): this {
    this.startRobot();
    this.startOperator();
    return this;
  }

  runMs(ms: number): void {
    this.network.run(this.clock.nowNs() + ms * 1e6);
  }
}
