import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { JointCommand } from '../../messages/command.ts';
import { emptyMotorHealth } from '../../messages/motor-health.ts';
import type { PlayoutRequest } from '../../messages/playout-request.ts';
import type { Receipt } from '../../messages/receipt.ts';
import type { RobotState } from '../../messages/robot-state.ts';
import { WORLD_STATE } from '../../messages/world-state.ts';
import { OperatorLease } from '../session.ts';
import { decodeCommand, emptyCommand, encodeCommand } from './command.ts';
import {
  type DeskMessage,
  decodeDesk,
  decodeHello,
  decodePlayoutRequest,
  emptyDesk,
  encodeBye,
  encodeDesk,
  encodeHello,
  NO_REQUEST,
} from './desk.ts';
import { frameBody, frameType, type Json, type MessageType, writeFrame } from './frame.ts';
import { decodeReceipt, emptyReceipt, encodeReceipt } from './receipt.ts';
import { decodeState, emptyState, encodeState, type StateOrigin } from './state.ts';
import {
  decodeProbe,
  decodeProbeReply,
  emptyProbe,
  encodeProbe,
  encodeProbeReply,
  type Probe,
} from './sync.ts';
import { decodeWorld } from './world.ts';

type PlainType = Exclude<MessageType, 'hands'>;

interface Vector {
  type: PlainType;
  note: string;
  datagram: string;
  /** What a receiver decodes; null stands for an unknown stamp. Absent when the datagram is rejected. */
  decoded?: Json;
  reason?: string;
  /** The datagram is byte for byte what the encoder writes for `decoded`. */
  canonical?: boolean;
}

interface VectorFile {
  format: string;
  joints: number;
  tags: { datagram: string; type: MessageType | null }[];
  vectors: Vector[];
}

const file = JSON.parse(readFileSync('protocol/vectors/link.json', 'utf8')) as VectorFile;
const { joints } = file;

interface Codec {
  encode(value: Json, out: Uint8Array): number;
  /** The message, or why it was rejected. */
  decode(bytes: Uint8Array, length: number): object | string;
}

const body: Codec['decode'] = (bytes, length) => frameBody(bytes, length) ?? 'bad-json';

const CODECS: Record<PlainType, Codec> = {
  command: {
    encode: (value, out) => encodeCommand(revive(value) as unknown as JointCommand, out),
    decode(bytes, length) {
      const out = emptyCommand(joints);
      return decodeCommand(bytes, length, out) ?? out;
    },
  },
  desk: {
    encode: (value, out) => encodeDesk(value as unknown as DeskMessage, out),
    decode(bytes, length) {
      const out = emptyDesk();
      return decodeDesk(bytes, length, out) ?? out;
    },
  },
  hello: {
    encode: (value, out) =>
      encodeHello(value['session'] as number, out, (value['request'] ?? NO_REQUEST) as PlayoutRequest),
    decode(bytes, length) {
      const session = decodeHello(bytes, length);
      const answer = new OperatorLease().hello(session, 1, 0);
      if (answer !== 'claimed') return answer;
      const request = { ...NO_REQUEST };
      const malformed = decodePlayoutRequest(bytes, length, request);
      if (malformed !== null) return malformed;
      return request.quality === null && request.capMs === null ? { session } : { session, request };
    },
  },
  bye: {
    encode: (value, out) => encodeBye(value['session'] as number, out),
    decode(bytes, length) {
      const session = decodeHello(bytes, length);
      const lease = new OperatorLease();
      lease.hello(43981, 1, 0);
      return lease.release(session, 1) ? { session } : 'not-operator';
    },
  },
  probe: {
    encode: (value, out) => encodeProbe(value as unknown as Probe, out),
    decode(bytes, length) {
      const out = emptyProbe();
      return decodeProbe(bytes, length, out) ?? { id: out.id, t0: out.t0 };
    },
  },
  probeReply: {
    encode: (value, out) => encodeProbeReply(value as unknown as Probe, out),
    decode(bytes, length) {
      const out = emptyProbe();
      return decodeProbeReply(bytes, length, out) ?? out;
    },
  },
  receipt: {
    encode: (value, out) => encodeReceipt(revive(value) as unknown as Receipt, out),
    decode(bytes, length) {
      const out = emptyReceipt();
      return decodeReceipt(bytes, length, out) ?? out;
    },
  },
  state: {
    encode(value, out) {
      const { boot, session } = value as unknown as StateOrigin;
      const { motors } = value as { motors?: Json };
      const known = motors ? revive(motors) : emptyMotorHealth(joints);
      const state = { ...emptyState(joints, joints), ...revive(value), motors: known };
      return encodeState(boot, session, state as unknown as RobotState, out, motors !== undefined);
    },
    decode(bytes, length) {
      const out = emptyState(joints, joints);
      const origin: StateOrigin = { boot: 0, session: 0 };
      const reason = decodeState(bytes, length, out, origin);
      return reason ?? { ...origin, ...withoutUnknown(out) };
    },
  },
  world: {
    encode: (value, out) => writeFrame('world', value, out),
    decode(bytes, length) {
      const decoded = decodeWorld(bytes, length, WORLD_STATE.create(), { boot: 0, session: 0 });
      return typeof decoded === 'string' ? decoded : body(bytes, length);
    },
  },
  request: { encode: (value, out) => writeFrame('request', value, out), decode: body },
  hand: { encode: (value, out) => writeFrame('hand', value, out), decode: body },
};

/** Vectors do not list what the robot does not know: torques, forces, the condition of motors, another arm. */
function withoutUnknown({ motors, effortsNm, externalNm, gripperN, otherRad, ...rest }: RobotState): object {
  return {
    ...rest,
    ...(Number.isNaN(effortsNm[0]) ? {} : { effortsNm }),
    ...(Number.isNaN(externalNm[0]) ? {} : { externalNm }),
    ...(Number.isNaN(otherRad[0]) ? {} : { otherRad }),
    ...(Number.isNaN(gripperN) ? {} : { gripperN }),
    ...(Object.values(motors).some((values) => !values.every(Number.isNaN)) ? { motors } : {}),
  };
}

/** Converts JSON to what the codecs hold: angles in typed arrays, NaN for an unknown stamp. */
function revive(value: Json): Json {
  const entries = Object.entries(value).map(([key, inner]) => {
    if (Array.isArray(inner))
      return [key, Float64Array.from(inner as (number | null)[], (each) => each ?? Number.NaN)];
    return [key, inner === null ? Number.NaN : inner];
  });
  return Object.fromEntries(entries) as Json;
}

function plain(value: object | string): unknown {
  if (typeof value === 'string') return value;
  return JSON.parse(JSON.stringify(value, (_, x) => (ArrayBuffer.isView(x) ? [...(x as Float64Array)] : x)));
}

/** A receive buffer as reactors pass it: longer than the datagram, with stale bytes behind it. */
function inDirtyBuffer(datagram: string): { bytes: Uint8Array; length: number } {
  const text = new TextEncoder().encode(datagram);
  const bytes = new Uint8Array(2048).fill(0x7d);
  bytes.set(text);
  return { bytes, length: text.length };
}

describe('link vectors', () => {
  it('cover every message type, valid and rejected', () => {
    assert.equal(file.format, 'farhand-link-vectors/1');
    for (const type of Object.keys(CODECS)) {
      const own = file.vectors.filter((vector) => vector.type === type);
      assert.ok(
        own.some(({ canonical }) => canonical),
        `${type}: valid`,
      );
      if (type !== 'request' && type !== 'hand')
        assert.ok(
          own.some(({ reason }) => reason !== undefined),
          `${type}: rejected`,
        );
    }
  });

  for (const { datagram, type } of file.tags)
    it(`tag of ${JSON.stringify(datagram)} is ${type}`, () => {
      const { bytes, length } = inDirtyBuffer(datagram);
      assert.equal(frameType(bytes, length), type);
    });

  for (const { type, note, datagram, decoded, reason, canonical } of file.vectors)
    it(`${type}: ${note}`, () => {
      const { bytes, length } = inDirtyBuffer(datagram);
      assert.equal(frameType(bytes, length), type);
      assert.deepEqual(plain(CODECS[type].decode(bytes, length)), reason ?? decoded);
      if (!canonical) return;
      const out = new Uint8Array(2048);
      const written = CODECS[type].encode(decoded!, out);
      assert.equal(new TextDecoder().decode(out.subarray(0, written)), datagram);
    });
});
