import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { SimMotor } from '../../sim/orca/motor.ts';
import { Responder } from '../../sim/orca/responder.ts';
import { Leader } from '../../src/app/leader/leader.ts';
import { LeaderPose, leaderRad } from '../../src/app/leader/leader-pose.ts';
import { loadModel } from '../../src/app/robot-models.ts';
import { createChain } from '../../src/core/chain.ts';
import { baseFromVr, quatAngleRad, quatMultiply, quatRotate } from '../../src/core/frames.ts';
import { decodeRctp, emptyRctp, type RctpPacket } from '../../src/input/codecs/rctp.ts';
import { MODE, REGISTER, XC330 } from '../../src/robot/buses/dynamixel/control-table.ts';
import { PacketParser } from '../../src/robot/buses/dynamixel/parser.ts';
import { openPty } from '../../src/robot/buses/pty.ts';

const model = loadModel('dk1');
const GRIPPER = { openTicks: 2280, closedTicks: 1670 };
/** In ticks: joints, then the gripper half closed. */
const STAND = [2048, 2830, 2830, 2048, 2100, 1990, 1975];
const skip = process.platform === 'linux' ? false : 'the simulated motors need a Linux pseudo-terminal';

/** The flange that a packet means, in the follower's base frame. */
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

describe('a leader arm', { skip, timeout: 30_000 }, () => {
  it('is where the follower’s flange would be', () => {
    const packet = emptyRctp();
    new LeaderPose(model, GRIPPER).into(STAND, packet);
    assertStands(packet);
    new LeaderPose(model, GRIPPER).into([...STAND.slice(0, 6), 9999], packet);
    assert.equal(packet.gripper, 1, 'never more than open');
  });

  it('sends its pose as a hand’s, and is lost when a motor is', async () => {
    const pty = await openPty();
    const range = { lowTicks: -5000, highTicks: 9000, firmware: 52 };
    const motors = STAND.map((ticks, i) => new SimMotor({ id: i + 1, type: XC330, ticks, ...range }));
    const responder = new Responder(motors);
    const parser = new PacketParser((packet) => {
      for (const answer of responder.answersTo(packet, performance.now())) pty.write(answer, answer.length);
    });
    const bytes = new Uint8Array(4096);
    const ticker = setInterval(() => {
      const count = pty.read(bytes);
      if (count > 0) parser.push(bytes, count);
    }, 1);
    const ear = createSocket('udp4');
    await new Promise<void>((resolve) => ear.bind(0, '127.0.0.1', () => resolve()));
    const heard: RctpPacket[] = [];
    let wake = () => {};
    ear.on('message', (message) => {
      const packet = emptyRctp();
      assert.equal(decodeRctp(message, message.length, packet), null);
      heard.push(packet);
      wake();
    });
    const until = async (isSo: (packet: RctpPacket) => boolean): Promise<RctpPacket> => {
      for (;;) {
        const found = heard.find(isSo);
        if (found) return found;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    const leader = await Leader.open({
      port: pty.path,
      baudRate: 1_000_000,
      model,
      hz: 100,
      to: { host: '127.0.0.1', port: (ear.address() as AddressInfo).port },
      gripper: GRIPPER,
      springMa: 100,
    });
    try {
      assertStands(await until(({ tracking }) => tracking));
      const [joint, gripper] = [motors[0]!, motors[6]!];
      assert.equal(joint.table[REGISTER.torqueEnable.address], 0, 'free to be moved');
      assert.equal(gripper.table[REGISTER.operatingMode.address], MODE.currentBasedPosition);
      assert.equal(gripper.table[REGISTER.goalCurrent.address], 100);
      assert.equal(gripper.table[REGISTER.torqueEnable.address], 1);
      heard.length = 0;
      motors[3]!.unplugged = true;
      await until(({ tracking }) => !tracking);
      motors[3]!.unplugged = false;
      heard.length = 0;
      assertStands(await until(({ tracking }) => tracking));
      heard.length = 0;
    } finally {
      await leader.close();
      await until(({ tracking }) => !tracking);
      clearInterval(ticker);
      ear.close();
      pty.close();
    }
  });
});
