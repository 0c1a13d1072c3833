import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SnapshotBoard } from '../../src/core/memory/snapshot.ts';
import { NS_PER_MS } from '../../src/core/time/clock.ts';
import { emptyXr, type XrSide } from '../../src/input/codecs/webxr-codec.ts';
import { BOARD } from '../../src/operator/board.ts';
import type { Driver } from '../../src/robot/driver.ts';
import { peerPort } from '../../src/wire/reactor.ts';
import { MS } from './simulated-rig.ts';
import { TwoArmRig } from './two-arm-rig.ts';

const CYCLE_MS = 5;

/** Ways in which one arm comes to a stop. */
const STOPS = [
  'e-stop at the robot',
  'e-stop of the hand',
  'e-stop of the page',
  'driver fault',
  'no feedback',
] as const;

/** Until `isSo`, in steps of a tenth of a cycle; returns the time it took. */
function until(rig: TwoArmRig, isSo: () => boolean, withinMs: number): number {
  const startNs = rig.clock.nowNs();
  while (!isSo()) {
    assert.ok(
      rig.clock.nowNs() - startNs < withinMs * NS_PER_MS,
      `not within ${withinMs} ms: ${rig.states.join()}`,
    );
    rig.runFor(CYCLE_MS / 10);
  }
  return (rig.clock.nowNs() - startNs) / NS_PER_MS;
}

/** An arm whose driver fails, or whose readings stop, when the test says so. */
function breakable() {
  const broken: ('fault' | 'stale' | null)[] = [null, null];
  const wrapDriver = (arm: Driver, i: number): Driver => {
    const read = arm.read.bind(arm);
    arm.read = (nowNs, out) => broken[i] ?? read(nowNs, out);
    return arm;
  };
  return { broken, wrapDriver };
}

describe('two arms as one robot', () => {
  it('stops both arms within one cycle, whatever stops one of them, whenever, in any state', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...STOPS),
        fc.constantFrom(0, 1),
        fc.boolean(),
        fc.double({ min: 0, max: 20, noNaN: true }),
        async (stop, which, isEngaged, laterMs) => {
          const { broken, wrapDriver } = breakable();
          const rig = await TwoArmRig.create({ wrapDriver, overrides: ['operator.autoArm=false'] });
          if (isEngaged) rig.engage();
          else rig.arm();
          rig.runFor(laterMs);
          const arm = rig.arms[which]!;
          if (stop === 'e-stop at the robot') arm.robot.supervisor.estop('e-stop pressed', rig.clock.nowNs());
          else if (stop === 'e-stop of the hand') arm.hand.hand.estop = true;
          else if (stop === 'e-stop of the page') rig.ask({ kind: 'estop' });
          else broken[which] = stop === 'driver fault' ? 'fault' : 'stale';
          until(rig, () => rig.states.includes('stopped'), 400);
          const tookMs = until(rig, () => rig.states.every((state) => state === 'stopped'), CYCLE_MS);
          assert.ok(tookMs <= CYCLE_MS, `${stop}: ${tookMs} ms`);
          for (const { driver } of rig.arms) {
            const last = driver.writes.length;
            rig.runFor(50);
            assert.equal(driver.writes.length, last, 'a stopped arm gets no writes');
          }
        },
      ),
      { numRuns: 7 },
    );
  });

  it('needs one reset and one arm for both, and arms neither while one is stopped', async () => {
    const rig = await TwoArmRig.create({ overrides: ['operator.autoArm=false'] });
    rig.engage();
    rig.ask({ kind: 'estop' });
    for (const { hand } of rig.arms) hand.hand.clutch = false;
    rig.runFor(50);
    assert.deepEqual(rig.states, ['stopped', 'stopped']);
    rig.ask({ kind: 'arm' });
    rig.runFor(300);
    assert.deepEqual(rig.states, ['stopped', 'stopped']);
    rig.ask({ kind: 'reset' });
    rig.runFor(100);
    assert.deepEqual(rig.states, ['idle', 'idle']);
    rig.ask({ kind: 'arm' });
    rig.runFor(300);
    assert.deepEqual(rig.states, ['armed', 'armed']);
  });

  it('commands neither arm while the state of one is missing', async () => {
    const rig = await TwoArmRig.create({ overrides: ['operator.autoArm=false'] });
    rig.engage();
    const { statePort } = rig.arms[0]!.rig.link;
    rig.impair = (from) => (peerPort(from) === statePort ? null : 2 * MS);
    rig.runFor(600);
    assert.deepEqual(rig.states, ['hold', 'hold']);
    const sent = rig.arms.map(({ operator }) => operator.link.totals.commands);
    rig.runFor(200);
    assert.deepEqual(
      rig.arms.map(({ operator }) => operator.link.totals.commands),
      sent,
    );
  });

  it('asks for an open clutch when it lost sight of one arm for a moment, and each arm waits for its own', async () => {
    const rig = await TwoArmRig.create({ overrides: ['operator.autoArm=false'] });
    const mustOpen = () =>
      rig.arms.map(({ model, operatorMemory }) => {
        const board = BOARD.create(model.joints.length);
        new SnapshotBoard(operatorMemory.board).read(board.packed);
        return board.mustOpenClutch;
      });
    rig.engage();
    assert.deepEqual(mustOpen(), [false, false]);
    const { statePort } = rig.arms[0]!.rig.link;
    const untilNs = rig.clock.nowNs() + 240 * MS;
    rig.impair = (from, _to, nowNs) => (peerPort(from) === statePort && nowNs < untilNs ? null : 2 * MS);
    rig.runFor(1000);
    assert.deepEqual(
      [rig.states, mustOpen()],
      [
        ['hold', 'hold'],
        [true, true],
      ],
    );
    const { hand } = rig.arms[1]!.hand;
    hand.clutch = false;
    rig.runFor(100);
    assert.deepEqual(mustOpen(), [true, false]);
    hand.clutch = true;
    rig.runFor(300);
    assert.deepEqual(
      [rig.states, mustOpen()],
      [
        ['hold', 'engaged'],
        [true, false],
      ],
    );
  });

  it('holds both arms when the commands of one are lost', async () => {
    const rig = await TwoArmRig.create({ overrides: ['operator.autoArm=false'] });
    rig.engage();
    const { commandPort } = rig.arms[1]!.rig.link;
    rig.impair = (_, to) => (peerPort(to) === commandPort ? null : 2 * MS);
    until(rig, () => rig.states.includes('hold'), 500);
    until(rig, () => rig.states.every((state) => state === 'hold'), CYCLE_MS);
  });

  it('holds only the arm whose hand is lost or whose clutch opens', async () => {
    for (const lose of ['tracking', 'clutch'] as const) {
      const rig = await TwoArmRig.create({ overrides: ['operator.autoArm=false'] });
      rig.engage();
      rig.arms[0]!.hand.hand[lose] = false;
      rig.runFor(300);
      assert.deepEqual(rig.states, ['hold', 'engaged'], lose);
    }
  });

  it('numbers, stamps, releases and records both commands of a tick together', async () => {
    const rig = await TwoArmRig.create({ overrides: ['operator.autoArm=false', 'robot.playout=adaptive'] });
    let random = 1;
    rig.impair = () => {
      random = (random * 16807) % 2147483647;
      return (1 + (3 * random) / 2147483647) * MS;
    };
    rig.engage();
    rig.runFor(1500);
    const [left, right] = rig.arms.map(({ closed }) => new Map(closed.map((record) => [record.seq, record])));
    let pairs = 0;
    for (const [seq, one] of left!) {
      const other = right!.get(seq);
      if (other === undefined) continue;
      assert.equal(one.sampledNs, other.sampledNs);
      if (!Number.isFinite(one.appliedNs) || !Number.isFinite(other.appliedNs)) continue;
      pairs++;
      if (one.late === 0 && other.late === 0) assert.equal(one.appliedNs, other.appliedNs);
    }
    assert.ok(pairs > 100, `${pairs} pairs`);
    const seqs = rig.rows.map(({ seq }) => seq);
    assert.deepEqual(seqs, [...new Set(seqs)], 'one row per tick');
    assert.ok(rig.rows.length > 100);
    const last = rig.rows.at(-1)!;
    assert.equal(last.commandRad.length, rig.width);
    assert.equal(last.supervisor, 'engaged');
  });

  it('lets the page drive one arm at a time, and holds the one it leaves', async () => {
    const rig = await TwoArmRig.create({ overrides: ['operator.autoArm=false'] });
    rig.engage();
    rig.ask({ kind: 'drive', side: 'left' });
    rig.runFor(100);
    assert.deepEqual(rig.states, ['engaged', 'hold']);
    rig.ask({ kind: 'drive', side: 'middle' });
    rig.runFor(20);
    assert.deepEqual(rig.states, ['engaged', 'hold']);
  });

  it('keeps the arms apart when both hands move towards each other', async () => {
    const rig = await TwoArmRig.create({ overrides: ['operator.autoArm=false'] });
    rig.engage();
    let leastM = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 150; i++) {
      rig.arms.forEach(({ hand }, arm) => {
        // In the input frame, +x is to the right: the left hand moves right, the right hand left.
        hand.hand.positionM[0]! += arm === 0 ? 0.004 : -0.004;
      });
      rig.runFor(20);
      for (const { robot } of rig.arms) leastM = Math.min(leastM, robot.supervisor.clearanceM);
    }
    assert.ok(leastM < 0.1, `the arms came near: ${leastM}`);
    assert.ok(leastM > 0, `they did not touch: ${leastM}`);
    for (const { driver } of rig.arms) assert.ok(driver.writes.length > 100);
  });

  it('drives each arm with its hand of one headset, each with its own clutch', async () => {
    const rig = await TwoArmRig.create({
      ownInputs: true,
      overrides: ['operator.autoArm=false', 'operator.input=webxr'],
    });
    const packet = { ...emptyXr(), visible: true };
    const clutches = { left: false, right: false };
    const shiftM = { left: 0, right: 0 };
    const run = (ms: number) => {
      for (let at = 0; at < ms; at += 10) {
        packet.seq++;
        for (const side of SIDES)
          openHand(packet[side], side === 'left' ? -0.2 : 0.2, shiftM[side], clutches[side]);
        rig.hands(packet);
        rig.runFor(10);
      }
    };
    run(500);
    rig.ask({ kind: 'arm' });
    run(300);
    assert.deepEqual(rig.states, ['armed', 'armed']);
    clutches.left = true;
    run(200);
    assert.deepEqual(rig.states, ['engaged', 'armed']);
    clutches.right = true;
    run(200);
    assert.deepEqual(rig.states, ['engaged', 'engaged']);
    const before = rig.arms.map(({ robot }) => [...robot.supervisor.reading.positionsRad]);
    const movedRad = (i: number) =>
      Math.max(
        ...before[i]!.map((rad, j) => Math.abs(rad - rig.arms[i]!.robot.supervisor.reading.positionsRad[j]!)),
      );
    for (let i = 0; i < 50; i++) {
      shiftM.left += 0.001;
      run(10);
    }
    run(300);
    assert.ok(movedRad(0) > 0.05, `left moved ${movedRad(0)} rad`);
    assert.ok(movedRad(1) < 1e-3, `right stayed: ${movedRad(1)} rad`);
    packet.left.tracked = false;
    const hidden = () => {
      for (let i = 0; i < 30; i++) {
        packet.seq++;
        rig.hands(packet);
        rig.runFor(10);
      }
    };
    hidden();
    assert.deepEqual(rig.states, ['hold', 'engaged']);
    packet.estop = true;
    hidden();
    assert.deepEqual(rig.states, ['stopped', 'stopped']);
  });
});

const SIDES = ['left', 'right'] as const;

/** A plausible open hand; closed: thumb and middle finger touch. */
function openHand(side: XrSide, xM: number, upM: number, isClosed: boolean): void {
  side.kind = 'hand';
  side.tracked = true;
  side.jointQuats.fill(0);
  for (let i = 0; i < 25; i++) side.jointQuats[4 * i + 3] = 1;
  const put = (joint: number, x: number, z: number) =>
    side.jointsM.set([xM + x, 1.2 + upM, -0.4 + z], 3 * joint);
  put(0, 0, 0);
  for (let i = 1; i <= 3; i++) put(i, 0.03 + 0.01 * i, -0.03 * i);
  [0.02, 0, -0.02, -0.04].forEach((x, finger) => {
    for (const [k, z] of [0.03, 0.09, 0.13, 0.155, 0.175].entries()) put(5 + 5 * finger + k, x, -z);
  });
  put(4, isClosed ? 0.01 : 0.12, -0.175);
}
