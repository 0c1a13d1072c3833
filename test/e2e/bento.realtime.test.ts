import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { describe, it } from 'node:test';
import { openDriver } from '../../src/app/open-driver.ts';
import { pluginConfig } from '../../src/app/registry.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { emptyReading } from '../../src/robot/driver.ts';
import { DEFAULT_LIMITS, SCENES } from '../../src/robot/drivers/bento/arm-facts.ts';
import {
  BRACHIOPLEXUS_MAX_BYTES,
  type BrachioplexusPacket,
  decodeBrachioplexus,
  emptyBrachioplexus,
  encodeBrachioplexus,
  MOTOR,
  PACKET,
} from '../../src/robot/drivers/bento/brachioplexus-codec.ts';
import type { BentoConfig } from '../../src/robot/drivers/bento/config.ts';
import plugin from '../../src/robot/drivers/bento/index.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { startSimProcess } from '../contract/sim-process.ts';
import { until } from '../until.ts';

/** A busy machine is no fault of the link. */
const PATIENT = { watchdogMs: 1000, feedbackTimeoutMs: 1000, openTimeoutMs: 8000 };
const WITHIN_RAD = 0.012;
const TIMEOUT = { timeout: 60_000 };

/** A byte-level controller in this process. */
async function openRaw(simPort: number, feedbackPort: number) {
  const socket: Socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(feedbackPort, '127.0.0.1', resolve));
  const received: BrachioplexusPacket[] = [];
  socket.on('message', (bytes) => {
    const packet = emptyBrachioplexus();
    assert.equal(decodeBrachioplexus(bytes, bytes.length, packet), null);
    received.push(packet);
  });
  return {
    received,
    close: () => socket.close(),
    async send(change: (packet: BrachioplexusPacket) => void): Promise<void> {
      const packet = emptyBrachioplexus();
      packet.limits.set(DEFAULT_LIMITS);
      change(packet);
      const bytes = new Uint8Array(BRACHIOPLEXUS_MAX_BYTES);
      const length = encodeBrachioplexus(packet, bytes);
      await new Promise<void>((resolve) =>
        socket.send(bytes, 0, length, simPort, '127.0.0.1', () => resolve()),
      );
    },
  };
}

async function startSim(more: readonly string[] = []) {
  const [port = 0, feedbackPort = 0] = await freeUdpPorts(2);
  const sim = await startSimProcess([
    'bento',
    '--port',
    `${port}`,
    '--feedback-port',
    `${feedbackPort}`,
    ...more,
  ]);
  return { ...sim, port, feedbackPort };
}

describe('controller and virtual Bento arm, two processes over UDP', () => {
  it('the driver moves the arm from its own thread', TIMEOUT, async () => {
    const sim = await startSim();
    try {
      const { port, feedbackPort } = sim;
      const options = { port, feedbackPort, ...PATIENT };
      const { driver, close } = await openDriver('bento', options, loadModel('bento'), monotonicClock);
      const target = Float64Array.of(0.3, 0.2, -0.3, 0.2, 0.4);
      const reading = emptyReading(5);
      const isThere = () => target.every((rad, i) => Math.abs(rad - reading.positionsRad[i]!) < WITHIN_RAD);
      await until('the pose', () => {
        driver.read(monotonicClock.nowNs(), reading);
        if (driver.enable(monotonicClock.nowNs()) === 'ok') driver.write(monotonicClock.nowNs(), target, 0);
        return isThere();
      });
      await close();
    } finally {
      await sim.stop();
    }
  });

  it('a camera request returns the view set by scene and update', TIMEOUT, async () => {
    const sim = await startSim();
    const raw = await openRaw(sim.port, sim.feedbackPort);
    const count = (type: number) => raw.received.filter((packet) => packet.type === type).length;
    const ask = async (): Promise<number[]> => {
      const before = count(PACKET.cameraPosition);
      await raw.send((packet) => {
        packet.type = PACKET.cameraRequest;
      });
      await until('an answer', () => count(PACKET.cameraPosition) > before);
      return [...raw.received.findLast(({ type }) => type === PACKET.cameraPosition)!.camera];
    };
    try {
      await raw.send((packet) => Object.assign(packet, { type: PACKET.scene, sceneIndex: 4, frameRate: 30 }));
      assert.deepEqual(await ask(), [...SCENES[4]!.camera]);
      await raw.send((packet) => {
        packet.type = PACKET.update;
        packet.camera.set([-300, 250, -90, 20, 300, 0]);
      });
      assert.deepEqual(await ask(), [-300, 250, -90, 20, 300, 0]);
      const before = count(PACKET.feedback);
      await until('feedback', () => count(PACKET.feedback) > before + 20);
    } finally {
      raw.close();
      await sim.stop();
    }
  });

  it('the arm comes to rest by itself when its controller goes silent', TIMEOUT, async () => {
    const sim = await startSim(['--dead-man-ms', '200']);
    const raw = await openRaw(sim.port, sim.feedbackPort);
    const shoulder = () => raw.received.findLast(({ type }) => type === PACKET.feedback)?.positions[0] ?? 0;
    try {
      await raw.send((packet) => Object.assign(packet, { type: PACKET.scene, sceneIndex: 1, frameRate: 30 }));
      await until('a scene', () => shoulder() > 0);
      const lastFour = () => raw.received.slice(-4).map(({ positions }) => positions[0]!);
      // A busy machine may use up the time that one packet gives.
      await until('a turning shoulder', async () => {
        await raw.send((packet) => {
          packet.type = PACKET.control;
          packet.states[0] = MOTOR.up;
          packet.speeds[0] = 30;
        });
        return shoulder() > 2060;
      });
      await until('rest', () => new Set(lastFour()).size === 1);
      assert.ok(shoulder() < DEFAULT_LIMITS[1]! - 50, 'well before its limit');
    } finally {
      raw.close();
      await sim.stop();
    }
  });

  it('the driver reports a port in use, a wrong model and an unknown host', TIMEOUT, async () => {
    const [port = 0, feedbackPort = 0] = await freeUdpPorts(2);
    const holder = createSocket('udp4');
    await new Promise<void>((resolve) => holder.bind(feedbackPort, '127.0.0.1', resolve));
    const rejects = (code: string, model = 'bento', more: Record<string, unknown> = {}) => {
      const config = pluginConfig('driver', 'bento', plugin, { port, feedbackPort, ...more });
      return assert.rejects(
        () => plugin.open(config as BentoConfig, loadModel(model), monotonicClock),
        (error) => error instanceof TeleopError && error.code === code,
      );
    };
    await rejects('port-in-use');
    await new Promise<void>((resolve) => holder.close(() => resolve()));
    await rejects('bad-model', 'ur3');
    await rejects('name-unresolved', 'bento', { host: 'no-such-host.invalid' });
  });
});
