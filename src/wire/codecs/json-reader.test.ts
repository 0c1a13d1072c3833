import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JointCommand } from '../../messages/command.ts';
import { LIMITED_BY, type RobotState, STATE_REASONS, SUPERVISOR_STATES } from '../../messages/robot-state.ts';
import { decodeCommand, emptyCommand, emptyEarlier, encodeCommand } from './command.ts';
import { TAG_BYTES } from './frame.ts';
import { decodeReceipt, emptyReceipt, encodeReceipt } from './receipt.ts';
import { decodeState, emptyState, encodeState } from './state.ts';
import { decodeProbe, decodeProbeReply, emptyProbe, encodeProbe, encodeProbeReply } from './sync.ts';

const JOINTS = 3;
const count = fc.maxSafeNat();
const stamp = fc.oneof(fc.constant(Number.NaN), fc.integer({ min: -1e15, max: 9e15 }));
const angle = fc.oneof(
  fc.integer({ min: -40_000_000, max: 40_000_000 }).map((n) => n / 1e7),
  fc.constantFrom(0, -0, 1e-7, -3e-7, 9.9e-7, 1e-6, 100, 0.1, 123456.7890123, 1e10),
);
const angles = fc
  .array(angle, { minLength: JOINTS, maxLength: JOINTS })
  .map((list) => Float64Array.from(list));
const share = fc.integer({ min: 0, max: 10_000 }).map((n) => n / 1e4);

const command = fc.record({
  ...{ session: count, seq: fc.integer({ min: 20, max: 1e6 }), epoch: count, engagement: count },
  ...{ tracking: fc.boolean(), sampledOperatorNs: fc.integer({ min: -1e15, max: 1e15 }) },
  ...{ sampledRobotNs: stamp, syncEpoch: count, ageNs: fc.integer({ min: 0, max: 1e9 }) },
  ...{ positionsRad: angles, gripper: share },
}) satisfies fc.Arbitrary<JointCommand>;

const text = fc.constantFrom('', 'no command', 'forearm ↔ base', '"', '\\', 'a\nb', '\ud800', '�');
const state = fc.record({
  ...{ robotNs: count, positionsRad: angles, velocitiesRadS: angles, targetRad: angles, gripper: share },
  ...{ effortsNm: angles, externalNm: angles, gripperN: fc.constantFrom(Number.NaN, 1.25) },
  ...{ state: fc.constantFrom(...SUPERVISOR_STATES), cause: text, why: fc.constantFrom(...STATE_REASONS) },
  ...{ sinceNs: count, epoch: count, endedEngagement: count, appliedSeq: count, ackRequest: count },
  ...{ limitedBy: fc.constantFrom(...LIMITED_BY), clearanceM: fc.constantFrom(Number.NaN, 0.1, 1e-5) },
  ...{ nearest: text, motors: fc.constant(emptyState(JOINTS).motors), repeat: fc.nat(8) },
  playout: fc.constantFrom('', 'adaptive'),
  otherRad: fc.oneof(fc.constant(new Float64Array(0)), angles),
}) satisfies fc.Arbitrary<RobotState>;

const probe = fc.record({
  ...{ id: count, boot: count, t0: count, t1: stamp, t2: stamp, wallUs: stamp },
  clock: fc.constantFrom('', 'a', '"', '\ud800', '0123456789abcdef'),
});

const receipt = fc.record({
  ...{ session: count, seq: count, kernelNs: stamp, receiveNs: stamp, dueNs: stamp, releasedNs: stamp },
  ...{ outcome: fc.constantFrom('applied' as const, 'late' as const, 'rejected:stale' as const) },
  ...{
    appliedNs: stamp,
    playoutDelayNs: stamp,
    queueDepth: count,
    late: fc.boolean(),
    dropped: fc.boolean(),
  },
});

/** A space after the first brace: the same JSON, but not as our encoder writes it. */
function spaced(datagram: Uint8Array): Uint8Array {
  const head = datagram.subarray(0, TAG_BYTES + 1);
  return Uint8Array.from([...head, 0x20, ...datagram.subarray(TAG_BYTES + 1)]);
}

const DECODERS = {
  command(bytes: Uint8Array) {
    const [out, earlier] = [emptyCommand(JOINTS), emptyEarlier(JOINTS)];
    const reason = decodeCommand(bytes, bytes.length, out, earlier);
    return reason ?? { ...out, earlier: earlier.commands.slice(0, earlier.count) };
  },
  state(bytes: Uint8Array) {
    const [out, origin] = [emptyState(JOINTS, JOINTS), { boot: 0, session: 0 }];
    return decodeState(bytes, bytes.length, out, origin) ?? { ...out, ...origin };
  },
  receipt(bytes: Uint8Array) {
    const out = emptyReceipt();
    return decodeReceipt(bytes, bytes.length, out) ?? out;
  },
  probe(bytes: Uint8Array) {
    const out = emptyProbe();
    return decodeProbe(bytes, bytes.length, out) ?? out;
  },
  probeReply(bytes: Uint8Array) {
    const out = emptyProbe();
    return decodeProbeReply(bytes, bytes.length, out) ?? out;
  },
};

const datagram = (encode: (out: Uint8Array) => number): Uint8Array => {
  const out = new Uint8Array(4000);
  return out.slice(0, encode(out));
};

const datagrams = fc.oneof(
  fc.tuple(command, fc.array(command, { maxLength: 8 })).map(([newest, earlier]) => ({
    kind: 'command' as const,
    bytes: datagram((out) =>
      encodeCommand(
        newest,
        out,
        earlier.map((each, i) => ({ ...each, seq: i + 1 })),
      ),
    ),
  })),
  fc.tuple(state, count).map(([each, boot]) => ({
    kind: 'state' as const,
    bytes: datagram((out) => encodeState(boot, 7, each, out)),
  })),
  receipt.map((each) => ({ kind: 'receipt' as const, bytes: datagram((out) => encodeReceipt(each, out)) })),
  probe.map((each) => ({ kind: 'probe' as const, bytes: datagram((out) => encodeProbe(each, out)) })),
  probe.map((each) => ({
    kind: 'probeReply' as const,
    bytes: datagram((out) => encodeProbeReply(each, out)),
  })),
);

describe('JSON without allocation', () => {
  it('is what JSON.stringify writes', () => {
    fc.assert(
      fc.property(datagrams, ({ bytes }) => {
        const body = new TextDecoder().decode(bytes.subarray(TAG_BYTES));
        assert.equal(body, JSON.stringify(JSON.parse(body)));
      }),
    );
  });

  it('is read as a JSON parser reads it', () => {
    fc.assert(
      fc.property(datagrams, ({ kind, bytes }) => {
        const slow = DECODERS[kind](spaced(bytes));
        // Texts are known the second time.
        assert.deepEqual(DECODERS[kind](bytes), slow);
        assert.deepEqual(DECODERS[kind](bytes), slow);
      }),
    );
  });

  it('is read as a JSON parser reads it when damaged', () => {
    const damage = fc.tuple(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(...'0129-+.e,:[]{}" nt\\\0ÿ'),
    );
    fc.assert(
      fc.property(datagrams, damage, fc.boolean(), ({ kind, bytes }, [where, what], isCut) => {
        const at = TAG_BYTES + 1 + Math.floor(where * (bytes.length - TAG_BYTES - 1));
        const damaged = isCut ? bytes.slice(0, at) : bytes.slice();
        if (!isCut) damaged[at] = what.charCodeAt(0);
        DECODERS[kind](bytes);
        assert.deepEqual(DECODERS[kind](damaged), DECODERS[kind](spaced(damaged)));
      }),
      { numRuns: 1000 },
    );
  });

  it('does not write beyond the datagram', () => {
    const small = new Uint8Array(40);
    assert.equal(encodeReceipt(emptyReceipt(), small), 0);
  });
});
