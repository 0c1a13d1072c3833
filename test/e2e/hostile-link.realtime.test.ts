import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { firstInit } from '../secure/tunnel-rig.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand, type Running, startFarhand } from './farhand.ts';

const HOST = '127.0.0.1';
const STATE = 1;

async function bound(host = HOST): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(0, host);
  await once(socket, 'listening');
  return socket;
}

/** Man in the middle: sees everything, and can send as the operator, since the robot sees its address. */
class Between {
  readonly handshakes: Buffer[] = [];
  /** Datagrams of the command channel. */
  readonly commands = { toRobot: 0, toOperator: 0 };
  readonly #near: Socket[];
  readonly #far: Socket[];
  readonly #robotPorts: readonly number[];
  readonly #strangers: Socket[];

  private constructor(near: Socket[], far: Socket[], strangers: Socket[], robotPorts: readonly number[]) {
    this.#near = near;
    this.#far = far;
    this.#strangers = strangers;
    this.#robotPorts = robotPorts;
    near.forEach((socket, channel) => {
      let operatorPort = 0;
      socket.on('message', (bytes, { port }) => {
        operatorPort = port;
        if (channel === STATE && bytes[3] !== 0x78) this.handshakes.push(bytes);
        if (channel === 0) this.commands.toRobot++;
        far[channel]!.send(bytes, robotPorts[channel]!, HOST, () => {});
      });
      far[channel]!.on('message', (bytes) => {
        if (channel === 0) this.commands.toOperator++;
        socket.send(bytes, operatorPort, HOST, () => {});
      });
    });
  }

  static async open(robotPorts: readonly number[]): Promise<Between> {
    const sockets = (count: number, host: (i: number) => string) =>
      Promise.all(Array.from({ length: count }, (_, i) => bound(host(i))));
    const home = () => HOST;
    // Other addresses of this machine, where the system has them.
    const other = (i: number) => (process.platform === 'linux' ? `127.0.7.${i + 1}` : HOST);
    return new Between(await sockets(3, home), await sockets(3, home), await sockets(20, other), robotPorts);
  }

  get ports(): number[] {
    return this.#near.map((socket) => socket.address().port);
  }

  /** Every captured handshake once, each from another address. */
  replay(): void {
    this.handshakes.forEach((bytes, i) => {
      this.#strangers[i % this.#strangers.length]!.send(bytes, this.#robotPorts[STATE]!, HOST, () => {});
    });
  }

  /** Sends as the operator's command socket. */
  flood(count: number): void {
    const garbage = Buffer.alloc(100);
    for (let i = 0; i < count; i++) this.#far[0]!.send(garbage, this.#robotPorts[0]!, HOST, () => {});
  }

  close(): void {
    for (const socket of [...this.#near, ...this.#far, ...this.#strangers]) socket.close();
  }
}

describe('a link with a man in the middle', () => {
  let folder: string;
  let key: Uint8Array;
  let between: Between;
  let running: Running[] = [];
  let timer: NodeJS.Timeout | undefined;
  let linkArgs: (ports: readonly number[]) => string[];
  let robotPorts: number[];

  const start = (args: string[]): Running => {
    const child = startFarhand(args);
    running.push(child);
    return child;
  };

  beforeEach(async () => {
    folder = temporaryFolder();
    const keyFile = path.join(folder, 'test.key');
    key = createKey();
    writeKeyFile(keyFile, { name: 'test', key, createdAt: '2026-01-01T00:00:00Z' });
    linkArgs = ([command, state, sync]) => [
      `link.commandPort=${command}`,
      `link.statePort=${state}`,
      `link.syncPort=${sync}`,
      `link.keyFile=${keyFile}`,
      `trace.dir=${folder}`,
    ];
    robotPorts = await freeUdpPorts(3);
    between = await Between.open(robotPorts);
  });

  afterEach(async () => {
    clearInterval(timer);
    await Promise.all(running.map((child) => child.end()));
    running = [];
    between.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startRobot(): Promise<Running> {
    const robot = start(['robot', '--json', ...linkArgs(robotPorts)]);
    await robot.waitFor(/"kind":"ready"/);
    return robot;
  }

  async function startOperator(): Promise<{ operator: Running; desk: string[] }> {
    const [deskPort, telemetryPort] = await freeUdpPorts(2);
    const desk = [`console.deskPort=${deskPort}`, `console.telemetryPort=${telemetryPort}`];
    return { operator: start(['operator', '--json', ...linkArgs(between.ports), ...desk]), desk };
  }

  it('connects a new operator while captured handshakes are replayed, before and after a restart', async () => {
    let robot = await startRobot();
    for (let i = 1; i <= 2; i++) {
      const { operator } = await startOperator();
      await robot.waitFor(new RegExp(`(?:"to":"engaged"[\\s\\S]*){${i}}`));
      await operator.end();
    }
    assert.ok(between.handshakes.length >= 2);
    timer = setInterval(() => between.replay(), 20);
    await sleep(2000);
    const { operator } = await startOperator();
    await robot.waitFor(/(?:"to":"engaged"[\s\S]*){3}/);
    robot.process.kill('SIGKILL');
    await Promise.all([robot.exited, operator.end()]);
    robot = await startRobot();
    await sleep(1000);
    await startOperator();
    await robot.waitFor(/"to":"engaged"/);
  });

  it('carries commands and an e-stop while garbage arrives from the operator’s own address', async () => {
    const robot = await startRobot();
    const { desk } = await startOperator();
    await robot.waitFor(/"to":"engaged"/);
    timer = setInterval(() => between.flood(100), 5);
    await sleep(500);
    const before = { ...between.commands };
    await sleep(2000);
    const sent = between.commands.toRobot - before.toRobot;
    const answered = between.commands.toOperator - before.toOperator;
    assert.ok(sent > 20, `${sent} commands`);
    // One receipt each; some may be in flight.
    assert.ok(answered > 0.6 * sent, `${answered} receipts for ${sent} commands`);
    const { code, stderr } = await farhand(['estop', ...desk]);
    assert.equal(code, 0, stderr);
    await robot.waitFor(/"to":"stopped"/);
  });

  it('names the remedy when an operator of an older release tries to connect', async () => {
    const robot = await startRobot();
    const old = firstInit(key);
    const socket = await bound();
    timer = setInterval(() => socket.send(old, robotPorts[STATE]!, HOST, () => {}), 50);
    try {
      for (let i = 0; i < 200 && !/update both ends/.test(robot.stderr()); i++) await sleep(50);
      assert.match(robot.stderr(), /another version of Farhand .*: update both ends to the same release/);
    } finally {
      clearInterval(timer);
      socket.close();
    }
  });
});
