import { createSocket, type Socket } from 'node:dgram';
import { monotonicClock } from '../../src/core/time/clock.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { RecorderStatus } from '../../src/messages/recording.ts';
import type { SupervisorState } from '../../src/messages/robot-state.ts';
import type { FeelStatus, Telemetry } from '../../src/messages/telemetry.ts';
import { frameBody, frameType } from '../../src/wire/codecs/frame.ts';

const SEND_MS = 50;
const SUBSCRIBED_MS = 3000;
/** Age of its joints when it sends them. */
export const READ_NS = 6e6;

/** Stands in for an operator process over its real sockets: sends telemetry and receives a console's requests. */
export class OperatorPeer {
  record: RecorderStatus | null = null;
  state: SupervisorState = 'armed';
  measuredRad: number[];
  feel: FeelStatus | null = null;
  motionLatencyMs: number | null = null;
  estopConfirmedNs: number | null = null;
  /** A person has taken over from a policy. */
  isInterrupted = false;
  /** Torque from outside; null: unknown. */
  externalNm: number[] | null = null;
  /** What a console reported about its pictures. */
  readonly pictures: Record<string, unknown>[] = [];
  readonly asked: Record<string, unknown>[] = [];
  readonly #telemetry: Socket;
  readonly #desk: Socket;
  readonly #timer: NodeJS.Timeout;
  readonly #onAsked: (request: Record<string, unknown>) => void;
  #subscriber = { port: 0, untilMs: 0 };
  #seq = 0;

  constructor(
    ports: { deskPort: number; telemetryPort: number },
    model: RobotModel,
    onAsked: (request: Record<string, unknown>) => void = () => {},
  ) {
    this.measuredRad = [...model.homeRad];
    this.#onAsked = onAsked;
    this.#telemetry = createSocket('udp4');
    this.#telemetry.on('message', (bytes, from) => {
      // Requests for the recorder arrive here, as in a real operator.
      if (frameType(bytes, bytes.length) === 'request') return this.#receive(bytes);
      this.#subscriber = { port: from.port, untilMs: performance.now() + SUBSCRIBED_MS };
    });
    this.#telemetry.bind(ports.telemetryPort, '127.0.0.1');
    this.#desk = createSocket('udp4');
    this.#desk.on('message', (bytes) => this.#receive(bytes));
    this.#desk.bind(ports.deskPort, '127.0.0.1');
    this.#timer = setInterval(() => this.#send(model.name), SEND_MS);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#telemetry.close();
    this.#desk.close();
  }

  #receive(bytes: Uint8Array): void {
    const body = frameType(bytes, bytes.length) === 'request' ? frameBody(bytes, bytes.length) : null;
    if (body === null) return;
    if (body['kind'] === 'video') return void this.pictures.push(body);
    this.asked.push(body);
    if (body['kind'] === 'estop') this.state = 'stopped';
    this.#onAsked(body);
  }

  #send(model: string): void {
    const { port, untilMs } = this.#subscriber;
    if (performance.now() > untilMs) return;
    this.#telemetry.send(JSON.stringify(this.#message(model)), port, '127.0.0.1', () => {});
  }

  #message(model: string): Telemetry {
    const nowS = performance.now() / 1000;
    const publishedNs = Math.round(monotonicClock.nowNs());
    const { measuredRad } = this;
    return {
      kind: 'telemetry',
      model,
      operatorNs: nowS * 1e9,
      link: {
        connected: true,
        stateAgeMs: 4,
        offsetMs: 0.01,
        uncertaintyMs: 0.05,
        driftPpm: 0,
        stampSource: 'kernel',
        playout: 'adaptive',
        quality: null,
      },
      input: {
        active: 'page',
        available: ['scripted', 'page'],
        status: 'ok',
        clutch: false,
        rateHz: null,
        jitterMs: null,
      },
      operator: {
        mode: 'hold',
        mapping: 'disengaged',
        filterDelayMs: null,
        ...{ estopConfirmedNs: this.estopConfirmedNs, isInterrupted: this.isInterrupted },
      },
      hand: { positionM: [0, 0, 0], quatXyzw: [0, 0, 0, 1] },
      robot: {
        state: this.state,
        cause: this.state === 'stopped' ? 'e-stop pressed' : 'armed by operator',
        epoch: 1,
        measuredRad,
        targetRad: measuredRad,
        gripper: 0,
        limitedBy: '',
        clearanceM: 0.2,
        nearest: 'forearm ↔ base',
        ...{ externalNm: this.externalNm, readNs: publishedNs - READ_NS, publishedNs },
      },
      commandedRad: measuredRad,
      closed: [
        {
          seq: ++this.#seq,
          atS: nowS,
          outcome: 'applied',
          oneWayMs: 20 + (this.#seq % 5),
          segmentsMs: [0.1, 0.1, 2, 0.2, 17 + (this.#seq % 5), 0.6],
          playoutMs: 20,
          queueDepth: 2,
        },
      ],
      totals: { commands: this.#seq, applied: this.#seq, late: 0, dropped: 0, rejected: 0, lost: 0 },
      counters: {},
      record: this.record,
      feel: this.feel,
      motionLatencyMs: this.motionLatencyMs,
    };
  }
}
