import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SimLeader } from '../../sim/dk1-leader/leader.ts';
import { createChain } from '../../src/geometry/chain.ts';
import { baseFromVr, quatAngleRad, quatMultiply, quatRotate } from '../../src/geometry/frames.ts';
import { decodeRctp, emptyRctp, type RctpPacket } from '../../src/input/codecs/rctp-codec.ts';
import { JointsSink } from '../../src/leader/joints-sink.ts';
import { Leader } from '../../src/leader/leader.ts';
import { DYNAMIXEL_LEADER } from '../../src/leader/leader-motors.ts';
import { LeaderPose, leaderOpen, leaderRad } from '../../src/leader/leader-pose.ts';
import { RctpSink } from '../../src/leader/rctp-sink.ts';
import { ServoLine } from '../../src/leader/servo-line.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { MODE, REGISTER } from '../../src/robot/buses/dynamixel/control-table.ts';
import { openPty } from '../../src/robot/buses/pty.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { FaultRig } from '../e2e/fault-rig.ts';
import { Lifetime } from '../lifetime.ts';
import { needs } from '../needs.ts';

const model = loadModel('dk1');
const GRIPPER = { openTicks: 2280, closedTicks: 1670 };
/** In ticks: joints, then the gripper half closed. */
const STAND = [2048, 2830, 2830, 2048, 2100, 1990, 1975];
const skip = needs('Linux');
const openDk1 = (port: string, springMa: number) => () =>
  ServoLine.open({
    ...{ port, baudRate: 1_000_000, joints: 6, gripper: GRIPPER, springMa, motors: DYNAMIXEL_LEADER },
  });

/** The flange pose in a packet, in the follower's base frame. */
function flangeOf({ positionM, quatXyzw }: RctpPacket): { positionM: Float64Array; quat: Float64Array } {
  const base = new Float64Array(3);
  const quat = new Float64Array(4);
  quatRotate(baseFromVr.quatXyzw, positionM, base);
  quatMultiply(baseFromVr.quatXyzw, quatXyzw, quat);
  return { positionM: base, quat };
}

function assertStands(packet: RctpPacket): void {
  const expectedM = new Float64Array(3);
  const expected = new Float64Array(4);
  createChain(model).frame(STAND.slice(0, 6).map(leaderRad), 6, expectedM, expected);
  const { positionM, quat } = flangeOf(packet);
  for (let i = 0; i < 3; i++) assert.ok(Math.abs(positionM[i]! - expectedM[i]!) < 1e-6, `${positionM}`);
  assert.ok(quatAngleRad(quat, expected) < 1e-5);
  assert.ok(Math.abs(packet.gripper - 0.5) < 1e-6);
}

describe('a leader arm', { skip }, () => {
  const life = new Lifetime();
  afterEach(() => life.end());

  it('reports the pose of the follower’s flange', () => {
    const packet = emptyRctp();
    new LeaderPose(model).into(
      Float64Array.from(STAND.slice(0, 6), leaderRad),
      leaderOpen(STAND[6]!, GRIPPER),
      packet,
    );
    assertStands(packet);
    assert.equal(leaderOpen(9999, GRIPPER), 1, 'never more than open');
  });

  it('sends its pose as a hand sample, and reports tracking loss when a motor is lost', async () => {
    const pty = await openPty();
    const sim = new SimLeader(pty, STAND);
    const { motors } = sim;
    const ticker = setInterval(() => sim.tick(performance.now()), 1);
    const receiver = createSocket('udp4');
    await new Promise<void>((resolve) => receiver.bind(0, '127.0.0.1', () => resolve()));
    const received: RctpPacket[] = [];
    receiver.on('message', (message) => {
      const packet = emptyRctp();
      assert.equal(decodeRctp(message, message.length, packet), null);
      received.push(packet);
    });
    const until = async (condition: (packet: RctpPacket) => boolean): Promise<RctpPacket> => {
      for (const endMs = performance.now() + 5000; performance.now() < endMs; await sleep(5)) {
        const found = received.find(condition);
        if (found) return found;
      }
      throw new Error(`not among ${received.length} packets`);
    };
    const sink = new RctpSink({ host: '127.0.0.1', port: (receiver.address() as AddressInfo).port }, model);
    const leader = await Leader.open({ open: openDk1(pty.path, 100), hz: 100, sink, force: null });
    try {
      assertStands(await until(({ tracking }) => tracking));
      const [joint, gripper] = [motors[0]!, motors[6]!];
      assert.equal(joint.table[REGISTER.torqueEnable.address], 0, 'free to be moved');
      assert.equal(gripper.table[REGISTER.operatingMode.address], MODE.currentBasedPosition);
      assert.equal(gripper.table[REGISTER.goalCurrent.address], 100);
      assert.equal(gripper.table[REGISTER.torqueEnable.address], 1);
      received.length = 0;
      motors[3]!.unplugged = true;
      await until(({ tracking }) => !tracking);
      motors[3]!.unplugged = false;
      received.length = 0;
      assertStands(await until(({ tracking }) => tracking));
      received.length = 0;
    } finally {
      await leader.close();
      await until(({ tracking }) => !tracking);
      clearInterval(ticker);
      receiver.close();
      pty.close();
    }
  });

  it('is followed joint by joint once the operator starts it, slowly at first, and not after a loss', async () => {
    const [port = 0] = await freeUdpPorts(1);
    const input = ['operator.input=joints', 'robot.playout=none', `operator.inputs.joints.port=${port}`];
    // This machine may be busy with other tests: longer timeouts than in a real set-up.
    const longTimeouts = [
      'model=dk1',
      'robot.commandTimeoutMs=500',
      'robot.feedbackTimeoutMs=1000',
      'operator.inputs.joints.staleAfterMs=600',
    ];
    const rig = life.own(await FaultRig.start(input, 'armed', 'demo', longTimeouts), (each) => each.close());
    const pty = life.own(await openPty(), (each) => each.close());
    const sim = new SimLeader(pty, [...Array<number>(6).fill(2048), GRIPPER.openTicks]);
    const stand = model.homeRad.map((rad, i) => rad + [0.15, -0.1, 0.1, 0.1, -0.15, 0.2][i]!);
    sim.lead(stand);
    life.own(
      setInterval(() => sim.tick(performance.now()), 1),
      clearInterval,
    );
    const sink = new JointsSink(port, model);
    const leader = await Leader.open({ open: openDk1(pty.path, 0), hz: 100, sink, force: null });
    life.own(leader, (each) => each.close());
    const isAt = (goal: readonly number[]) =>
      rig.last.measuredRad.every((rad, i) => Math.abs(rad - goal[i]!) < 0.01);
    const reach = async (goal: readonly number[]) => {
      for (let i = 0; i < 500 && !isAt(goal); i++) await sleep(20);
      assert.ok(isAt(goal), `${rig.last.measuredRad} is not ${goal} (${rig.last.state}, ${rig.last.cause})`);
    };
    await sleep(300);
    assert.ok(isAt(model.homeRad), 'not started yet');
    const startNs = rig.nowNs();
    assert.ok(sink.toggle());
    await rig.waitFor('engaged');
    await reach(stand);
    assert.ok(rig.topSpeedRadS(startNs) < 1, `${rig.topSpeedRadS(startNs)} rad/s`);
    await sleep(500);
    const turned = stand.map((rad, i) => (i === 0 ? rad + 0.1 : rad));
    for (let i = 1; i <= 20; i++) {
      sim.lead([stand[0]! + 0.005 * i, ...stand.slice(1)]);
      await sleep(20);
    }
    await reach(turned);
    sim.motors[2]!.unplugged = true;
    await rig.waitFor('hold');
    sim.motors[2]!.unplugged = false;
    sim.lead(stand);
    await sleep(500);
    assert.equal(rig.last.state, 'hold');
    assert.ok(!sink.follows && isAt(turned), 'it waits for the operator');
  });
});
