import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DamiaoSimulation } from '../../sim/damiao/simulation.ts';
import { SimLeader } from '../../sim/dk1-leader/leader.ts';
import { SimArm } from '../../sim/so101/arm.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { openTelemetryFeed } from '../../src/desk/telemetry-feed.ts';
import { DamiaoLine, damiaoMotorFacts } from '../../src/leader/damiao-line.ts';
import { ForceFeedback } from '../../src/leader/force-feedback.ts';
import { JointsSink } from '../../src/leader/joints-sink.ts';
import { Leader } from '../../src/leader/leader.ts';
import { leaderBody } from '../../src/leader/leader-arms.ts';
import type { LeaderLine, MotorFacts } from '../../src/leader/leader-line.ts';
import { DYNAMIXEL_LEADER, feetechLeader, type LeaderMotors } from '../../src/leader/leader-motors.ts';
import { ServoLine } from '../../src/leader/servo-line.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { DK1, OPENARM } from '../../src/robot/buses/damiao/arms.ts';
import { openPty } from '../../src/robot/buses/pty.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { Lifetime } from '../lifetime.ts';
import { needs } from '../needs.ts';

const MIDDLES = [2048, 2048, 2048, 2048, 2081];
const GRIPPER = { openTicks: 3400, closedTicks: 2000 };
const STATE_MS = 10;
/** A Damiao motor's zero torque is half a step of its frames. */
const REST_NM = 0.014;
const skip = needs('Linux');

interface Sim {
  open(): Promise<LeaderLine>;
  facts: MotorFacts;
  readonly torquesNm: number[];
  readonly jointsRad: number[];
  readonly isPowered: boolean;
  aim(rad: number): void;
}

const servos = (port: string, joints: number, motors: LeaderMotors) => ({
  open: () => ServoLine.open({ port, baudRate: 1_000_000, joints, gripper: GRIPPER, springMa: 0, motors }),
  facts: motors.torque,
});

async function dk1(life: Lifetime): Promise<Sim> {
  const pty = life.own(await openPty(), (each) => each.close());
  const sim = new SimLeader(pty, [...Array<number>(6).fill(2048), 2280]);
  life.own(
    setInterval(() => sim.tick(performance.now()), 1),
    clearInterval,
  );
  return {
    ...servos(pty.path, 6, DYNAMIXEL_LEADER),
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
    ...servos(pty.path, 5, feetechLeader(MIDDLES)),
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

async function openarm(life: Lifetime): Promise<Sim> {
  const pty = life.own(await openPty(), (each) => each.close());
  const model = loadModel('openarm');
  const startRad = [0, 0, 0, 0, 0, 0, 0];
  const sim = new DamiaoSimulation(pty, { facts: OPENARM, model, adapter: 'slcan', sags: [], startRad });
  const { arm } = sim;
  arm.hold();
  life.own(
    setInterval(() => sim.tick(performance.now()), 1),
    clearInterval,
  );
  return {
    open: () => DamiaoLine.open(`slcan:${pty.path}`, true, model),
    facts: damiaoMotorFacts(OPENARM),
    get torquesNm() {
      return arm.torquesNm;
    },
    get jointsRad() {
      return arm.positionsRad;
    },
    get isPowered() {
      return arm.motors.some(({ enabled }) => enabled);
    },
    aim: (rad) => arm.lead([rad, 0, 0, 0, 0, 0, 0]),
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
    const externalNm = [robot.nm, 0, 0, 0, 0, 0, 0].slice(0, joints);
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

/** So far does the person push: harder than the motor may. */
for (const [name, open, forceGain, farRad] of [
  ['dk1', dk1, 0.02, 0.5],
  ['so101', so101, 0.02, 0.5],
  ['openarm', openarm, 1, 2.5],
] as [string, typeof dk1, number, number][])
  describe(`a ${name} leader that feels the robot`, { skip }, () => {
    const life = new Lifetime();
    afterEach(() => life.end());

    it('reflects bounded torques only while the robot follows, and ends them at once', async () => {
      const [joints = 0, telemetry = 0] = await freeUdpPorts(2);
      const model = loadModel(name);
      const sim = await open(life);
      const body = leaderBody(model, sim.facts, 40);
      const force = new ForceFeedback(body, { forceGain, gravityGain: 0 });
      const sink = new JointsSink(joints, model);
      const leader = await Leader.open({ open: sim.open, hz: 200, sink, force });
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
      const isFree = (): boolean => sim.torquesNm.every((nm) => Math.abs(nm) < REST_NM);
      const most = body.joints[0]!.maxNm;

      robot.nm = -2;
      await until('the robot does not follow', () => force.unfelt === 'let go' && isFree());
      assert.ok(sink.toggle());
      await until('pushed back', () => sim.torquesNm[0]! < -0.03 && sim.jointsRad[0]! < -0.02);
      assert.ok(sim.torquesNm.slice(1).every((nm) => Math.abs(nm) < REST_NM));
      robot.nm = -1000;
      // Against the person's own push, so that it is not taken back. A Damiao motor is a spring: pushed back, it pulls more at first.
      let aimRad = 0;
      await until('most', () => {
        aimRad = Math.min(farRad, aimRad + 0.02);
        sim.aim(aimRad);
        assert.ok(force.torquesNm[0]! >= -most);
        return sim.torquesNm[0]! < -0.99 * most && sim.torquesNm[0]! > -1.01 * most;
      });
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
      // Longer than a Dynamixel's watchdog waits.
      for (const endMs = performance.now() + 250; performance.now() < endMs; );
      await until('felt again after the pause', () => {
        if (!sink.follows) sink.toggle();
        return force.unfelt === '' && sim.torquesNm[0]! < -0.03;
      });
      sink.toggle();
      await until('let go', () => isFree() && force.unfelt === 'let go');
      await leader.close();
      await sleep(50);
      assert.ok(!sim.isPowered, 'moves freely again');
    });
  });

describe('a leader of Damiao motors', { skip }, () => {
  const life = new Lifetime();
  afterEach(() => life.end());
  const open = async (isPowered = false) => {
    const pty = life.own(await openPty(), (each) => each.close());
    const sim = new DamiaoSimulation(pty, {
      ...{ facts: OPENARM, model: loadModel('openarm'), adapter: 'slcan', sags: [] },
    });
    sim.arm.hold();
    life.own(
      setInterval(() => sim.tick(performance.now()), 1),
      clearInterval,
    );
    const line = await DamiaoLine.open(`slcan:${pty.path}`, true, loadModel('openarm'));
    life.own(line, (each) => each.close());
    if (isPowered) for (const motor of sim.arm.motors) motor.status = 1;
    else await line.prepare();
    return { arm: sim.arm, line };
  };
  const settles = async (what: string, isSo: () => boolean | Promise<boolean>) => {
    for (let i = 0; i < 300; i++) {
      if (await isSo()) return;
      await sleep(10);
    }
    assert.fail(what);
  };

  it('moves at most 9° by itself if nobody sends any more', async () => {
    const { arm, line } = await open();
    const restRad = arm.positionsRad[0]!;
    assert.ok(await line.begin());
    assert.ok(await line.read());
    await line.apply(Float64Array.of(16, 0, 0, 0, 0, 0, 0));
    await settles('the torque', () => arm.torquesNm[0]! > 8);
    await sleep(1500);
    const movedRad = arm.positionsRad[0]! - restRad;
    assert.ok(movedRad > 0.05 && movedRad < 0.16, `${movedRad} rad`);
  });

  it('loses its torque with a motor, sinks with damping, and has it again with the motor', async () => {
    const { arm, line } = await open();
    assert.ok(await line.begin());
    await line.read();
    for (const [lose, back] of [
      [() => arm.motors[2]!.fail(11), () => {}],
      [
        () => Object.assign(arm.motors[7]!, { mute: true }),
        () => Object.assign(arm.motors[7]!, { mute: false }),
      ],
    ] as const) {
      await line.apply(new Float64Array(7).fill(1));
      await settles('torque', () => arm.torquesNm[0]! > 0.5);
      lose();
      await settles('the loss', async () => !(await line.read()));
      await line.lose();
      await settles('no torque', () => Math.abs(arm.torquesNm[0]!) < REST_NM);
      back();
      await settles('all answer', () => line.read());
      assert.ok(await line.begin(), 'the error is cleared');
      assert.ok(await line.read());
    }
    await line.release();
    await settles('free', () => arm.motors.every(({ enabled }) => !enabled));
  });

  it('leaves an arm alone that another program has powered', async () => {
    const { arm, line } = await open(true);
    await assert.rejects(line.prepare(), /joint1, .* have power/);
    await line.release();
    await sleep(100);
    assert.ok(arm.allEnabled);
  });

  it('rejects a bus on which other motors answer', async () => {
    const pty = life.own(await openPty(), (each) => each.close());
    const dk1Arm = new DamiaoSimulation(pty, {
      ...{ facts: DK1, model: loadModel('dk1'), adapter: 'slcan', sags: [] },
    });
    life.own(
      setInterval(() => dk1Arm.tick(performance.now()), 1),
      clearInterval,
    );
    const line = await DamiaoLine.open(`slcan:${pty.path}`, true, loadModel('openarm'));
    life.own(line, (each) => each.close());
    await assert.rejects(line.prepare(), /no reply .* from gripper|should be a DM8009/);
  });
});
