import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JointCommand } from '../../messages/command.ts';
import { MAX_DATAGRAM_BYTES } from '../reactor.ts';
import {
  copyCommand,
  decodeCommand,
  emptyCommand,
  emptyEarlier,
  encodeCommand,
  MAX_REDUNDANCY,
} from './command.ts';
import { frameBody, frameType, writeFrame } from './frame.ts';

const JOINTS = 6;
const count = fc.maxSafeNat();
const stampNs = fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
const command: fc.Arbitrary<JointCommand> = fc.record(
  {
    session: count,
    seq: count,
    engagement: count,
    epoch: count,
    tracking: fc.boolean(),
    sampledOperatorNs: stampNs,
    sampledRobotNs: fc.oneof(stampNs, fc.constant(Number.NaN)),
    syncEpoch: count,
    ageNs: fc.integer({ min: 0, max: 1e9 }),
    positionsRad: fc.float64Array({
      minLength: JOINTS,
      maxLength: JOINTS,
      min: -1000,
      max: 1000,
      noNaN: true,
    }),
    gripper: fc.double({ min: 0, max: 1, noNaN: true }),
  },
  { noNullPrototype: true },
);

const VALID = {
  session: 7,
  seq: 12,
  epoch: 1,
  engagement: 2,
  tracking: true,
  state_ns: 1e9,
  send_robot_ns: 2e9,
  sync: 1,
  age_ns: 3e6,
  q: [1, 2, 3, 4, 5, 6],
  gripper: 0.5,
  last: [],
};

/** Decodes a body as given; `text` overrides it where JSON.stringify cannot express it. */
function reasonOf(body: object, change: (text: string) => string = (text) => text): string | null {
  const bytes = new Uint8Array(4096);
  const text = change(JSON.stringify(body));
  bytes.set(new TextEncoder().encode(`FH1c${text}`));
  return decodeCommand(bytes, 4 + text.length, emptyCommand(JOINTS));
}

const without = (field: keyof typeof VALID): object => {
  const { [field]: _gone, ...rest } = VALID;
  return rest;
};

describe('command', () => {
  it('survives a round trip, angles to 1e-7 rad', () => {
    const bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
    const back = emptyCommand(JOINTS);
    fc.assert(
      fc.property(command, (sent) => {
        const length = encodeCommand(sent, bytes.fill(0xff));
        assert.equal(frameType(bytes, length), 'command');
        back.positionsRad.fill(Number.NaN);
        assert.equal(decodeCommand(bytes, length, back), null);
        const { positionsRad, gripper, ...exact } = back;
        const { positionsRad: sentRad, gripper: sentGripper, ...sentExact } = sent;
        assert.deepEqual(exact, sentExact);
        assert.ok(Math.abs(gripper - sentGripper) <= 5e-5);
        positionsRad.forEach((rad, i) => {
          assert.ok(Math.abs(rad - sentRad[i]!) <= 1e-7);
        });
      }),
    );
  });

  it('rounds stamps to whole nanoseconds', () => {
    const bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
    const sent = { ...emptyCommand(JOINTS), sampledOperatorNs: 10.4, sampledRobotNs: 10.6 };
    const back = emptyCommand(JOINTS);
    assert.equal(decodeCommand(bytes, encodeCommand(sent, bytes), back), null);
    assert.deepEqual([back.sampledOperatorNs, back.sampledRobotNs], [10, 11]);
  });

  it('fits a datagram for many joints; rejects what does not fit', () => {
    const widest = (joints: number) => {
      const big = emptyCommand(joints);
      for (const field of [
        'session',
        'seq',
        'engagement',
        'epoch',
        'sampledOperatorNs',
        'sampledRobotNs',
      ] as const)
        big[field] = Number.MAX_SAFE_INTEGER;
      big.ageNs = 1e9;
      big.positionsRad.fill(-Math.PI);
      return encodeCommand(big, new Uint8Array(MAX_DATAGRAM_BYTES));
    };
    assert.ok(widest(32) > 0);
    assert.equal(widest(200), 0);
  });

  it('repeats no earlier command unless given one', () => {
    const bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
    const length = encodeCommand(emptyCommand(JOINTS), bytes);
    assert.deepEqual(frameBody(bytes, length)?.['last'], []);
  });

  it('accepts a valid command', () => {
    assert.equal(reasonOf(VALID), null);
    assert.equal(reasonOf({ ...VALID, send_robot_ns: null }), null);
    assert.equal(reasonOf({ ...VALID, later_version: { any: 'thing' } }), null);
  });

  it('rejects a datagram truncated at any byte', () => {
    const bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
    const length = writeFrame('command', VALID, bytes);
    for (let cut = 0; cut < length; cut++)
      assert.equal(decodeCommand(bytes, cut, emptyCommand(JOINTS)), 'bad-json', `cut at ${cut}`);
  });

  it('requires every field but the age', () => {
    for (const field of Object.keys(VALID) as (keyof typeof VALID)[])
      if (field !== 'age_ns')
        assert.equal(reasonOf(without(field)), field === 'gripper' ? 'non-finite' : 'malformed', field);
  });

  it('requires an age of at most a second; senders without one mean 0', () => {
    for (const age of [-1, 1e9 + 1, null, '5', true, [], {}])
      assert.equal(reasonOf({ ...VALID, age_ns: age }), 'malformed', `${age}`);
    for (const age of [0, 1e9]) assert.equal(reasonOf({ ...VALID, age_ns: age }), null);
    const bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
    const back = { ...emptyCommand(JOINTS), ageNs: 5 };
    assert.equal(decodeCommand(bytes, writeFrame('command', without('age_ns'), bytes), back), null);
    assert.equal(back.ageNs, 0);
  });

  it('requires each field to have its type', () => {
    const wrong = ['text', '5', null, true, [], {}, -1, 1.5, Number.MAX_SAFE_INTEGER + 1];
    for (const field of ['session', 'seq', 'epoch', 'engagement', 'sync'] as const)
      for (const value of wrong) assert.equal(reasonOf({ ...VALID, [field]: value }), 'malformed', field);
    for (const value of ['true', 1, 0, null, []])
      assert.equal(reasonOf({ ...VALID, tracking: value }), 'malformed');
    for (const value of ['5', true, [], {}]) {
      assert.equal(reasonOf({ ...VALID, state_ns: value }), 'malformed');
      assert.equal(reasonOf({ ...VALID, send_robot_ns: value }), 'malformed');
    }
    assert.equal(reasonOf({ ...VALID, state_ns: null }), 'malformed');
    for (const value of ['[]', {}, null, 5]) assert.equal(reasonOf({ ...VALID, last: value }), 'malformed');
    for (const value of ['123456', { length: 6 }, null, 5])
      assert.equal(reasonOf({ ...VALID, q: value }), 'malformed');
  });

  it('requires as many joints as the robot has', () => {
    for (const q of [[], [1], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6, 7], new Array(300).fill(0)])
      assert.equal(reasonOf({ ...VALID, q }), 'joint-count');
  });

  it('requires finite joints and a finite gripper', () => {
    for (const bad of [null, '1', true, [1], {}])
      assert.equal(reasonOf({ ...VALID, q: [1, 2, bad, 4, 5, 6] }), 'non-finite');
    for (const huge of ['1e999', '-1e999'])
      assert.equal(
        reasonOf(VALID, (text) => text.replace('[1,2,3', `[1,${huge},3`)),
        'non-finite',
      );
    for (const bad of [null, '0.5', true]) assert.equal(reasonOf({ ...VALID, gripper: bad }), 'non-finite');
    assert.equal(
      reasonOf(VALID, (text) => text.replace('0.5', '1e999')),
      'non-finite',
    );
  });

  it('rejects text that is not JSON', () => {
    for (const word of ['NaN', 'Infinity', '0x10', 'undefined', '+1'])
      assert.equal(
        reasonOf(VALID, (text) => text.replace('[1,2,3', `[1,${word},3`)),
        'bad-json',
      );
  });

  it('requires the gripper to be between open and closed', () => {
    for (const gripper of [-1e-9, 1.0001, -1, 2, 1e300])
      assert.equal(reasonOf({ ...VALID, gripper }), 'bad-range');
    for (const gripper of [0, 1, 0.123]) assert.equal(reasonOf({ ...VALID, gripper }), null);
  });

  it('requires an object', () => {
    for (const text of ['[]', '[1,2]', '"FH1c"', 'null', 'true', '5', '', ' ', '{}}', `[${'['.repeat(1400)}`])
      assert.equal(
        reasonOf({}, () => text),
        'bad-json',
        text,
      );
  });

  it('ignores names on the prototype', () => {
    assert.equal(
      reasonOf({}, () => `{"__proto__":${JSON.stringify(VALID)}}`),
      'malformed',
    );
    assert.equal(
      reasonOf(VALID, (text) => text.replace('"session":7', '"constructor":7')),
      'malformed',
    );
  });

  it('can be copied without sharing memory', () => {
    fc.assert(
      fc.property(command, (from) => {
        const to = emptyCommand(JOINTS);
        copyCommand(from, to);
        assert.deepEqual(to, from);
        from.positionsRad.fill(9e9);
        assert.ok(to.positionsRad.every((rad) => rad !== 9e9));
      }),
    );
  });
});

describe('commands repeated in a later one', () => {
  const row = [11, 1.9e9, 0.5, 1, 2, 3, 4, 5, 6];

  function earlierReason(last: unknown): string | null {
    const bytes = new TextEncoder().encode(`FH1c${JSON.stringify({ ...VALID, last })}`);
    return decodeCommand(bytes, bytes.length, emptyCommand(JOINTS), emptyEarlier(JOINTS));
  }

  it('survive a round trip in order, with the remaining fields taken from the newest', () => {
    const bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
    const back = emptyCommand(JOINTS);
    const earlier = emptyEarlier(JOINTS);
    const many = fc.array(command, { maxLength: MAX_REDUNDANCY });
    fc.assert(
      fc.property(command, many, fc.integer({ min: MAX_REDUNDANCY + 1, max: 1e9 }), (newest, before, seq) => {
        newest.seq = seq;
        before.forEach((one, i) => {
          one.seq = seq - before.length + i;
        });
        const length = encodeCommand(newest, bytes.fill(0xff), before);
        assert.ok(length > 0, 'fits');
        assert.equal(decodeCommand(bytes, length, back, earlier), null);
        assert.equal(earlier.count, before.length);
        before.forEach((sent, i) => {
          const one = earlier.commands[i]!;
          assert.deepEqual(
            [one.seq, one.sampledRobotNs, one.ageNs],
            [sent.seq, sent.sampledRobotNs, sent.ageNs],
          );
          assert.deepEqual(
            [one.session, one.epoch, one.engagement, one.tracking, one.syncEpoch],
            [newest.session, newest.epoch, newest.engagement, newest.tracking, newest.syncEpoch],
          );
          assert.ok(Math.abs(one.gripper - sent.gripper) <= 5e-5);
          assert.ok(one.positionsRad.every((rad, j) => Math.abs(rad - sent.positionsRad[j]!) <= 1e-7));
        });
      }),
    );
  });

  it('are rejected with the whole packet when one of them is wrong', () => {
    assert.equal(earlierReason([]), null);
    assert.equal(earlierReason([row]), null);
    assert.equal(earlierReason([[10, null, ...row.slice(2)], row]), null);
    const replaced = (at: number, value: unknown) => [row.map((old, i) => (i === at ? value : old))];
    for (const seq of [12, 13, 0, -1, 1.5, null, '11'])
      assert.equal(earlierReason(replaced(0, seq)), 'malformed');
    for (const stamp of ['soon', true, []]) assert.equal(earlierReason(replaced(1, stamp)), 'malformed');
    for (const gripper of [-0.1, 1.1, null, '0'])
      assert.equal(earlierReason(replaced(2, gripper)), 'bad-range');
    for (const rad of [null, '1', []]) assert.equal(earlierReason(replaced(5, rad)), 'non-finite');
    for (const age of [-1, 1e9 + 1, null, '7']) assert.equal(earlierReason([[...row, age]]), 'malformed');
    assert.equal(earlierReason([[...row, 7]]), null);
    for (const odd of [row.slice(1), [...row, 7, 8], 5, null, {}])
      assert.equal(earlierReason([odd]), 'malformed');
    assert.equal(earlierReason([row, row]), 'malformed', 'duplicate');
    assert.equal(earlierReason([row, [10, ...row.slice(1)]]), 'malformed', 'out of order');
    const tooMany = Array.from({ length: MAX_REDUNDANCY + 1 }, (_, i) => [i + 1, ...row.slice(1)]);
    assert.equal(earlierReason(tooMany), 'malformed');
    assert.equal(earlierReason(tooMany.slice(1)), null);
  });
});
