import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SimLeader } from '../../sim/dk1-leader/leader.ts';
import { SimArm } from '../../sim/so101/arm.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { openTelemetryFeed } from '../../src/desk/telemetry-feed.ts';
import { ForceFeedback } from '../../src/leader/force-feedback.ts';
import { JointsSink } from '../../src/leader/joints-sink.ts';
import { Leader } from '../../src/leader/leader.ts';
import { leaderBody } from '../../src/leader/leader-arms.ts';
import { DYNAMIXEL_LEADER, feetechLeader, type LeaderMotors } from '../../src/leader/leader-motors.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { openPty } from '../../src/robot/buses/pty.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { Lifetime } from '../lifetime.ts';
import { needs } from '../needs.ts';

const MIDDLES = [2048, 2048, 2048, 2048, 2081];
const STATE_MS = 10;
const skip = needs('Linux');

interface Sim {
  path: string;
  readonly torquesNm: number[];
  readonly jointsRad: number[];
  readonly isPowered: boolean;
  aim(rad: number): void;
}

async function dk1(life: Lifetime): Promise<Sim> {
  const pty = life.own(await openPty(), (each) => each.close());
  const sim = new SimLeader(pty, [...Array<number>(6).fill(2048), 2280]);
  life.own(
    setInterval(() => sim.tick(performance.now()), 1),
    clearInterval,
  );
  return {
    path: pty.path,
    get torquesNm() {
      return sim.torquesNm;
    },
    get jointsRad() {
      return sim.jointsRad;
    },
    get isPowered() {
      return sim.motors.slice(0, 6).some(({ hasTorque }) => hasTorque);
    },
    aim: (rad) => sim.lead([rad, 0, 0, 0, 0, 0]),
  };
}

async function so101(life: Lifetime): Promise<Sim> {
  const pty = life.own(await openPty(), (each) => each.close());
  const sim = new SimArm(pty);
  sim.hold();
  let atMs = performance.now();
  const turn = (): void => {
    const nowMs = performance.now();
    sim.step(Math.min(100, nowMs - atMs) / 1000);
    atMs = nowMs;
    sim.answer();
  };
  life.own(setInterval(turn, 1), clearInterval);
  return {
    path: pty.path,
    get torquesNm() {
      return sim.torquesNm;
    },
    get jointsRad() {
      return sim.positionsRad;
    },
    get isPowered() {
      return sim.servos.slice(0, 5).some(({ isPowered }) => isPowered);
    },
    aim: (rad) => sim.lead([rad, 0, 0, 0, 0]),
  };
}

/** An operator's telemetry port, written from protocol/SPEC: it sends states to whoever said hello. */
interface Robot {
  send: boolean;
  state: string;
  nm: number;
}

async function robotStates(port: number, joints: number, life: Lifetime): Promise<Robot> {
  const robot = { send: true, state: 'engaged', nm: 0 };
  const socket = life.own(createSocket('udp4'), (each) => each.close());
  const listeners = new Set<number>();
  socket.on('message', (bytes, from) => {
    if (bytes.toString().includes('"states":true')) listeners.add(from.port);
  });
  await new Promise<void>((resolve) => socket.bind(port, '127.0.0.1', () => resolve()));
  const tell = (): void => {
    const externalNm = [robot.nm, 0, 0, 0, 0, 0].slice(0, joints);
    const body = {
      kind: 'state',
      measuredNs: 1,
      state: robot.state,
      measuredRad: [],
      gripper: 0,
      gripperN: null,
    };
    if (!robot.send) return;
    for (const each of listeners) socket.send(JSON.stringify({ ...body, externalNm }), each, '127.0.0.1');
  };
  life.own(setInterval(tell, STATE_MS), clearInterval);
  return robot;
}

for (const [name, open, motors] of [
  ['dk1', dk1, DYNAMIXEL_LEADER],
  ['so101', so101, feetechLeader(MIDDLES)],
] as [string, typeof dk1, LeaderMotors][])
  describe(`a ${name} leader that feels the robot`, { skip }, () => {
    const life = new Lifetime();
    afterEach(() => life.end());

    it('reflects bounded torques only while the robot follows, and ends them at once', async () => {
      const [joints = 0, telemetry = 0] = await freeUdpPorts(2);
      const model = loadModel(name);
      const sim = await open(life);
      const body = leaderBody(model, motors.torque.stallNm, 40);
      const force = new ForceFeedback(body, { forceGain: 0.02, gravityGain: 0 });
      const sink = new JointsSink(joints, model);
      const gripper = { openTicks: 3400, closedTicks: 2000 };
      const options = { baudRate: 1_000_000, joints: model.joints.length, hz: 200, gripper, springMa: 0 };
      const leader = await Leader.open({ ...options, port: sim.path, sink, motors, force });
      life.own(leader, (each) => each.close());
      const robot = await robotStates(telemetry, model.joints.length, life);
      const { config } = loadRig('demo', [`console.telemetryPort=${telemetry}`]);
      const feed = openTelemetryFeed(
        config,
        () => {},
        (state) => force.robot(state, monotonicClock.nowNs()),
      );
      life.own(feed, (each) => each.close());
      const until = async (what: string, isSo: () => boolean): Promise<void> => {
        for (let i = 0; i < 500 && !isSo(); i++) await sleep(10);
        assert.ok(isSo(), `${what}: ${sim.torquesNm} N·m, joints ${sim.jointsRad}, ${force.unfelt}`);
      };
      const isFree = (): boolean => sim.torquesNm.every((nm) => nm === 0);
      const most = body.joints[0]!.maxNm;

      robot.nm = -2;
      await until('the robot does not follow', () => force.unfelt === 'let go');
      assert.ok(isFree());
      assert.ok(sink.toggle());
      await until('pushed back', () => sim.torquesNm[0]! < -0.03 && sim.jointsRad[0]! < -0.02);
      assert.ok(sim.torquesNm.slice(1).every((nm) => nm === 0));
      robot.nm = -1000;
      // Against the person's own push, so that it is not taken back.
      await until('most', () => {
        sim.aim(0.5);
        return sim.torquesNm[0]! < -0.99 * most;
      });
      assert.ok(sim.torquesNm[0]! > -1.01 * most, `${sim.torquesNm} of ${most}`);
      robot.send = false;
      await until('silence', () => isFree() && force.unfelt === 'silence');
      robot.send = true;
      await until('felt again', () => sim.torquesNm[0]! < -0.03);
      for (const state of ['hold', 'stopped', 'armed']) {
        robot.state = state;
        await until(state, () => isFree() && force.unfelt === 'not engaged');
        robot.state = 'engaged';
        await until('felt again', () => sim.torquesNm[0]! < -0.03);
      }
      sink.toggle();
      await until('let go', () => isFree() && force.unfelt === 'let go');
      await leader.close();
      await sleep(50);
      assert.ok(!sim.isPowered, 'moves freely again');
    });
  });
