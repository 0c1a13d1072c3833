import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freeUdpPorts } from '../../src/app/free-ports.ts';
import { startLinkEmulator } from '../../src/app/link-emulator.ts';
import { openDriver } from '../../src/app/robot/open-driver.ts';
import { loadModel } from '../../src/app/robot-models.ts';
import { monotonicClock } from '../../src/core/clock.ts';
import { DEFAULT_LIMITS, SCENES } from '../../src/robot/bento/arm-facts.ts';
import {
  BRACHIOPLEXUS_MAX_BYTES,
  type BrachioplexusPacket,
  decodeBrachioplexus,
  emptyBrachioplexus,
  encodeBrachioplexus,
  PACKET,
} from '../../src/robot/buses/brachioplexus-codec.ts';
import { emptyReading } from '../../src/robot/driver.ts';
import { startSimProcess } from '../contract/sim-process.ts';
import type { ControllerLine, ControllerTask } from './bento-controller.ts';

const program = fileURLToPath(new URL('./bento-controller.js', import.meta.url));
const joints = loadModel('bento').joints;
/** A busy machine is no fault of the link. */
const PATIENT = { watchdogMs: 1000, feedbackTimeoutMs: 1000, openTimeoutMs: 8000 };
const WITHIN_RAD = 0.012;

/**
 * Every joint to both of its ends and back, alone, and all together. The elbow's lower end and the wrist's are clear of
 * the table only with the elbow up.
 */
function grandTour(): number[][] {
  const rest = joints.map((_, i) => (i === 1 ? 0.75 : 0));
  const alone = joints.flatMap(({ minRad, maxRad }, joint) =>
    [maxRad, minRad].map((end) => rest.map((rad, i) => (i === joint ? end : rad))),
  );
  const together = joints.map(({ minRad, maxRad }, i) => (i === 3 ? minRad / 2 : i === 1 ? 0.75 : maxRad));
  return [...alone, together, rest];
}

interface Controller {
  readonly child: ChildProcess;
  readonly lines: ControllerLine[];
  readonly ended: Promise<void>;
}

function startController(task: ControllerTask): Controller {
  const stdio = ['ignore', 'pipe', 'inherit', 'ipc'] as ('ignore' | 'pipe' | 'inherit' | 'ipc')[];
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio });
  const lines: ControllerLine[] = [];
  createInterface({ input: child.stdout! }).on('line', (line) =>
    lines.push(JSON.parse(line) as ControllerLine),
  );
  return { child, lines, ended: new Promise((resolve) => child.once('close', () => resolve())) };
}

function assertTour(lines: readonly ControllerLine[], tour: readonly number[][]): void {
  assert.equal(lines.length, tour.length);
  lines.forEach(({ reached, positionsRad, fault }, i) => {
    assert.ok(reached, `pose ${i} (${tour[i]}) missed: ${positionsRad}; ${fault}`);
  });
}

/** A controller in this process that speaks in bytes. */
async function openRaw(simPort: number, feedbackPort: number) {
  const socket: Socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(feedbackPort, '127.0.0.1', resolve));
  const heard: { packet: BrachioplexusPacket; atNs: number }[] = [];
  socket.on('message', (bytes) => {
    const packet = emptyBrachioplexus();
    assert.equal(decodeBrachioplexus(bytes, bytes.length, packet), null);
    heard.push({ packet, atNs: monotonicClock.nowNs() });
  });
  return {
    heard,
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

describe('controller and virtual Bento arm, two processes over UDP', { timeout: 240_000 }, () => {
  for (const control of ['simultaneous', 'sequential'])
    it(`every joint goes to its ends and back, ${control}`, async () => {
      const sim = await startSim();
      const { port, feedbackPort } = sim;
      const tour = control === 'sequential' ? grandTour().slice(-2) : grandTour();
      const options = { port, feedbackPort, control, ...PATIENT };
      const controller = startController({
        options,
        poses: tour,
        withinRad: WITHIN_RAD,
        givenUpAfterMs: 15_000,
      });
      await controller.ended;
      await sim.stop();
      assertTour(controller.lines, tour);
    });

  it('a link that loses, swaps and repeats datagrams changes nothing but smoothness', async (t) => {
    const [feedbackPort = 0, simPort = 0] = await freeUdpPorts(2);
    const bad = {
      delayMs: 8,
      loss: { share: 0.1 },
      duplicate: { share: 0.1 },
      jitter: { whiteSdMs: 8 },
      straggler: { share: 0.1 },
      fifo: false,
    };
    const link = await startLinkEmulator({
      mappings: [
        { listen: '0', target: `127.0.0.1:${simPort}` },
        { listen: '0', target: `127.0.0.1:${feedbackPort}` },
      ],
      forward: bad,
      reactor: 'dgram',
    });
    const [toArm = 0, fromArm = 0] = link.ports;
    const sim = await startSimProcess(['bento', '--port', `${simPort}`, '--feedback-port', `${fromArm}`]);
    const tour = grandTour();
    // A slower law: the link is part of its loop.
    const options = { port: toArm, feedbackPort, gainPerS: 4, ...PATIENT };
    const controller = startController({
      options,
      poses: tour,
      withinRad: WITHIN_RAD,
      givenUpAfterMs: 20_000,
    });
    await controller.ended;
    await sim.stop();
    const { forward } = await link.close();
    t.diagnostic(`the link: ${JSON.stringify(forward)}`);
    assertTour(controller.lines, tour);
  });

  it('the driver works on a thread of its own, as the robot process has it', async () => {
    const sim = await startSim();
    const { port, feedbackPort } = sim;
    const options = { port, feedbackPort, ...PATIENT };
    const { driver, close } = await openDriver('bento', options, loadModel('bento'), monotonicClock);
    const target = Float64Array.of(0.3, 0.2, -0.3, 0.2, 0.4);
    const reading = emptyReading(5);
    const isThere = () => target.every((rad, i) => Math.abs(rad - reading.positionsRad[i]!) < WITHIN_RAD);
    for (let i = 0; i < 2000 && !isThere(); i++) {
      await sleep(5);
      driver.read(monotonicClock.nowNs(), reading);
      if (driver.enable(monotonicClock.nowNs()) === 'ok') driver.write(monotonicClock.nowNs(), target, 0);
    }
    assert.ok(isThere(), `at ${[...reading.positionsRad]}: ${driver.fault}`);
    await close();
    await sim.stop();
  });

  it('a camera request is answered with the view that scene and update have set', async () => {
    const sim = await startSim();
    const raw = await openRaw(sim.port, sim.feedbackPort);
    const ask = async (): Promise<number[]> => {
      const before = raw.heard.length;
      await raw.send((packet) => {
        packet.type = PACKET.cameraRequest;
      });
      for (let i = 0; i < 200; i++) {
        const answer = raw.heard.slice(before).find(({ packet }) => packet.type === PACKET.cameraPosition);
        if (answer) return [...answer.packet.camera];
        await sleep(10);
      }
      return [];
    };
    await raw.send((packet) => Object.assign(packet, { type: PACKET.scene, sceneIndex: 4, frameRate: 30 }));
    assert.deepEqual(await ask(), [...SCENES[4]!.camera]);
    await raw.send((packet) => {
      packet.type = PACKET.update;
      packet.camera.set([-300, 250, -90, 20, 300, 0]);
    });
    assert.deepEqual(await ask(), [-300, 250, -90, 20, 300, 0]);
    const feedback = raw.heard.filter(({ packet }) => packet.type === PACKET.feedback);
    await sleep(1000);
    const more = raw.heard.filter(({ packet }) => packet.type === PACKET.feedback).length - feedback.length;
    assert.ok(more > 30 && more < 80, `${more} feedback packets in a second, every 15 ms`);
    raw.close();
    await sim.stop();
  });

  it('the arm comes to rest when its controller is killed, within the time of the dead man', async (t) => {
    const deadManMs = 200;
    const [feedbackPort = 0, tapPort = 0] = await freeUdpPorts(2);
    const sim = await startSim(['--feedback-port', `${tapPort}`, '--dead-man-ms', `${deadManMs}`]);
    // Feedback passes through here, so that it is still seen when the controller is gone.
    const seen: { atNs: number; counts: number }[] = [];
    const tap = createSocket('udp4');
    await new Promise<void>((resolve) => tap.bind(tapPort, '127.0.0.1', resolve));
    tap.on('message', (bytes) => {
      const packet = emptyBrachioplexus();
      assert.equal(decodeBrachioplexus(bytes, bytes.length, packet), null);
      seen.push({ atNs: monotonicClock.nowNs(), counts: packet.positions[0]! });
      tap.send(bytes, feedbackPort, '127.0.0.1');
    });
    const options = { port: sim.port, feedbackPort, ...PATIENT };
    const poses = [joints.map(({ maxRad }, i) => (i === 0 ? maxRad : 0))];
    const controller = startController({ options, poses, withinRad: 1e-6, givenUpAfterMs: 30_000 });
    const isOnItsWay = () => (seen.at(-1)?.counts ?? 0) > 2300;
    for (let i = 0; i < 1000 && !isOnItsWay(); i++) await sleep(5);
    assert.ok(isOnItsWay(), 'the shoulder is turning');
    const killedNs = monotonicClock.nowNs();
    controller.child.kill('SIGKILL');
    await sleep(1500);
    const rest = seen.at(-1)!.counts;
    // Within a third of a degree of where it stays.
    const moving = seen.findLast(({ counts }) => Math.abs(counts - rest) > 4);
    const stillMs = ((moving?.atNs ?? killedNs) - killedNs) / 1e6;
    t.diagnostic(`at rest ${stillMs.toFixed(0)} ms after the kill, ${rest} counts`);
    assert.ok(rest < DEFAULT_LIMITS[1]! - 50, 'long before its end');
    assert.ok(stillMs > 50, 'it was moving when the controller died');
    // The last packet, a feedback period and this machine's pauses come on top.
    assert.ok(stillMs < deadManMs + 100, `${stillMs} ms`);
    tap.close();
    await sim.stop();
  });
});
