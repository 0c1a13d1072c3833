import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freeUdpPorts } from '../../src/app/free-ports.ts';
import { pluginConfig } from '../../src/app/registry.ts';
import { loadModel } from '../../src/app/robot-models.ts';
import { monotonicClock } from '../../src/core/clock.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { DEFAULT_LIMITS, HAND, MAX_SPEEDS, radOfCounts } from '../../src/robot/bento/arm-facts.ts';
import {
  BRACHIOPLEXUS_MAX_BYTES,
  type BrachioplexusPacket,
  decodeBrachioplexus,
  emptyBrachioplexus,
  encodeBrachioplexus,
  MOTOR,
  PACKET,
} from '../../src/robot/buses/brachioplexus-codec.ts';
import { type Driver, emptyReading } from '../../src/robot/driver.ts';
import plugin from '../../src/robot/drivers/bento.ts';

const FEEDBACK_MS = 10;

/** Unity at the level of bytes: remembers what it was sent, and says what the test wants it to. */
class Peer {
  readonly received: BrachioplexusPacket[] = [];
  readonly counts = [2048, 2048, 2048, 2048, 2048];
  readonly socket: Socket = createSocket('udp4');
  /** Instead of good feedback. */
  garbage: (() => Uint8Array) | null = null;
  silent = false;
  feedbackPort = 0;
  port = 0;
  #timer: NodeJS.Timeout | undefined;

  async start(): Promise<void> {
    [this.port = 0, this.feedbackPort = 0] = await freeUdpPorts(2);
    await new Promise<void>((resolve) => this.socket.bind(this.port, '127.0.0.1', resolve));
    this.socket.on('message', (bytes) => {
      const packet = emptyBrachioplexus();
      assert.equal(decodeBrachioplexus(bytes, bytes.length, packet), null);
      this.received.push(packet);
    });
    this.#timer = setInterval(() => this.#speak(), FEEDBACK_MS);
  }

  send(packet: BrachioplexusPacket, socket = this.socket): void {
    const bytes = new Uint8Array(BRACHIOPLEXUS_MAX_BYTES);
    socket.send(bytes.subarray(0, encodeBrachioplexus(packet, bytes)), this.feedbackPort, '127.0.0.1');
  }

  last(type: number): BrachioplexusPacket | undefined {
    return this.received.findLast((packet) => packet.type === type);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.socket.close();
  }

  #speak(): void {
    if (this.silent) return;
    if (this.garbage !== null) {
      this.socket.send(this.garbage(), this.feedbackPort, '127.0.0.1');
      return;
    }
    const packet = emptyBrachioplexus(PACKET.feedback);
    packet.positions.set(this.counts);
    this.send(packet);
  }
}

let peer: Peer;
let driver: Driver | null = null;

async function open(options: Record<string, unknown> = {}, model = 'bento'): Promise<Driver> {
  const { port, feedbackPort } = peer;
  const given = { port, feedbackPort, openTimeoutMs: 1500, ...options };
  driver = await plugin.open(
    pluginConfig('driver', 'bento', plugin, given) as never,
    loadModel(model),
    monotonicClock,
  );
  return driver;
}

/** Writes a target for a while, as the control loop would. */
async function drive(target: Float64Array, ms: number, gripper = 0): Promise<void> {
  for (let t = 0; t < ms; t += 5) {
    driver!.write(monotonicClock.nowNs(), target, gripper);
    await sleep(5);
  }
}

/** Good feedback from another address, until the returned function is called. */
async function speakFrom(host: string): Promise<() => void> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, host, resolve));
  const timer = setInterval(() => peer.send(emptyBrachioplexus(PACKET.feedback), socket), FEEDBACK_MS);
  return () => {
    clearInterval(timer);
    socket.close();
  };
}

const skipOf = (trouble: string): string | false =>
  trouble === 'stranger' &&
  process.platform !== 'linux' &&
  'only Linux has a second loopback address by itself';

describe('driver bento, byte for byte', { timeout: 30_000 }, () => {
  const started = async (): Promise<Peer> => {
    peer = new Peer();
    await peer.start();
    return peer;
  };
  afterEach(() => {
    driver?.dispose();
    driver = null;
    peer.stop();
  });

  it('loads the scene with limits and view, updates them, and then controls at rest', async () => {
    await started();
    await open({ scene: 3, frameRate: 60, camera: [-1, 2, 3, 4, 5, 6] });
    await sleep(100);
    const scene = peer.last(PACKET.scene)!;
    assert.deepEqual([scene.sceneIndex, scene.frameRate, ...scene.camera], [3, 60, -1, 2, 3, 4, 5, 6]);
    assert.deepEqual([...scene.limits], DEFAULT_LIMITS);
    assert.deepEqual([...peer.last(PACKET.update)!.limits], DEFAULT_LIMITS);
    const controls = peer.received.filter(({ type }) => type === PACKET.control);
    assert.ok(controls.length > 5);
    assert.ok(controls.every(({ states }) => states.every((state) => state === MOTOR.stop)));
  });

  it('leaves the scene alone when told so', async () => {
    await started();
    await open({ scene: 0 });
    assert.equal(peer.last(PACKET.scene), undefined);
  });

  it('commands directions and speeds within the limits, and never state 3', async () => {
    await started();
    const arm = await open({ maxSpeeds: { elbow: 20 } });
    assert.equal(arm.enable(0), 'ok');
    await drive(Float64Array.of(1, 0.5, -1, 0.01, 0), 150);
    const { states, speeds } = peer.last(PACKET.control)!;
    assert.deepEqual([...states], [MOTOR.up, MOTOR.up, MOTOR.down, MOTOR.up, MOTOR.stop]);
    assert.equal(speeds[0], 66, 'as fast as the model lets it');
    assert.equal(speeds[1], 20);
    assert.ok(speeds[3]! > 0 && speeds[3]! < 10);
    assert.ok(peer.received.every((packet) => packet.states.every((state) => state < MOTOR.keep)));
    assert.ok(MAX_SPEEDS.every((most, i) => speeds[i]! <= most));
  });

  it('moves one joint at a time when told so', async () => {
    await started();
    const arm = await open({ control: 'sequential' });
    arm.enable(0);
    await drive(Float64Array.of(0.5, 0.2, 1, -0.3, 0), 100);
    assert.deepEqual([...peer.last(PACKET.control)!.states], [0, 0, MOTOR.up, 0, 0]);
  });

  it('drives the hand by the gripper where the model has four joints', async () => {
    await started();
    const arm = await open({}, 'bento-arm');
    const reading = emptyReading(4);
    arm.enable(0);
    await drive(new Float64Array(4), 80, 1);
    assert.equal(peer.last(PACKET.control)!.states[HAND], MOTOR.down, 'closing makes its counts fall');
    peer.counts[HAND] = 1928;
    await sleep(60);
    arm.read(monotonicClock.nowNs(), reading);
    assert.equal(reading.gripper, 1);
    await drive(new Float64Array(4), 80, 0);
    assert.equal(peer.last(PACKET.control)!.states[HAND], MOTOR.up);
    assert.equal(peer.last(PACKET.control)!.states[0], MOTOR.stop);
  });

  it('reads angles and signed speeds', async () => {
    await started();
    peer.counts.splice(0, 5, 1028, 2304, 3073, 790, 2800);
    const arm = await open();
    const reading = emptyReading(5);
    assert.equal(arm.read(monotonicClock.nowNs(), reading), 'ok');
    assert.deepEqual([...reading.positionsRad], [1028, 2304, 3073, 790, 2800].map(radOfCounts));
    assert.equal(reading.gripper, 0, 'wide open');
  });

  for (const trouble of ['silence', 'nonsense', 'stranger'] as const)
    it(`stops and says so at ${trouble} in place of feedback, and enables again afterwards`, {
      skip: skipOf(trouble),
    }, async () => {
      await started();
      const arm = await open();
      arm.enable(0);
      await drive(Float64Array.of(1, 0, 0, 0, 0), 60);
      assert.equal(peer.last(PACKET.control)!.states[0], MOTOR.up);
      if (trouble === 'nonsense') peer.garbage = () => Uint8Array.of(255, 255, 4, 30, 0, 1, 2);
      else peer.silent = true;
      const ended = trouble === 'stranger' ? await speakFrom('127.0.0.2') : () => {};
      await drive(Float64Array.of(1, 0, 0, 0, 0), 400);
      ended();
      assert.equal(peer.last(PACKET.control)!.states[0], MOTOR.stop);
      assert.match(
        arm.fault,
        { silence: /no feedback/, nonsense: /bad-size/, stranger: /unknown-source/ }[trouble],
      );
      assert.equal(arm.read(monotonicClock.nowNs(), emptyReading(5)), 'fault');
      assert.equal(arm.write(monotonicClock.nowNs(), new Float64Array(5), 0), 'fault');
      assert.equal(arm.enable(monotonicClock.nowNs()), 'fault');
      peer.silent = false;
      peer.garbage = null;
      await sleep(100);
      assert.equal(arm.enable(monotonicClock.nowNs()), 'ok');
      assert.equal(arm.fault, '');
    });

  it('stops the arm when the control loop no longer turns', async () => {
    await started();
    const arm = await open();
    arm.enable(0);
    await drive(Float64Array.of(1, 0, 0, 0, 0), 60);
    await sleep(400);
    assert.equal(peer.last(PACKET.control)!.states[0], MOTOR.stop);
    assert.match(arm.fault, /control loop silent/);
  });

  it('refuses a target that is not a number and stops', async () => {
    await started();
    const arm = await open();
    arm.enable(0);
    assert.equal(arm.write(monotonicClock.nowNs(), Float64Array.of(0, Number.NaN, 0, 0, 0), 0), 'fault');
    assert.match(arm.fault, /joint 2/);
  });

  it('sends a stop before it goes', async () => {
    await started();
    const arm = await open();
    arm.enable(0);
    await drive(Float64Array.of(1, 0, 0, 0, 0), 60);
    arm.dispose();
    await sleep(50);
    assert.equal(peer.last(PACKET.control)!.states[0], MOTOR.stop);
    const count = peer.received.length;
    await sleep(60);
    assert.equal(peer.received.length, count, 'and is silent then');
  });

  it('says which port is taken, which model fits, and which host is unknown', async () => {
    await started();
    const holder = createSocket('udp4');
    await new Promise<void>((resolve) => holder.bind(peer.feedbackPort, '127.0.0.1', resolve));
    const code = (wanted: string) => (error: unknown) =>
      error instanceof TeleopError && error.code === wanted;
    await assert.rejects(() => open(), code('port-in-use'));
    await new Promise<void>((resolve) => holder.close(() => resolve()));
    await assert.rejects(() => open({}, 'ur3'), code('bad-model'));
    await assert.rejects(() => open({ host: 'no-such-host.invalid' }), code('name-unresolved'));
    peer.silent = true;
    await assert.rejects(() => open({ openTimeoutMs: 600 }), code('robot-unreachable'));
  });
});
