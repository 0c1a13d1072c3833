import { type MessageType, TAG_BYTES, TYPES, writeFrame } from '../../src/wire/codecs/frame.ts';

export const GARBAGE_KINDS = [
  'random',
  'truncated',
  'large',
  'oversize',
  'bad-json',
  'wrong-port',
  'replay',
  'forged',
] as const;
export type GarbageKind = (typeof GARBAGE_KINDS)[number];

/** Sealed datagrams: "FH2x", index u32, counter u64 little-endian; this byte counts in 2³². */
const SEAL_COUNTER_HIGH_BYTE = 12;

/** A port under attack and the message it accepts, so that garbage passes the cheapest test. */
export interface Target {
  name: string;
  port: number;
  accepts: MessageType;
}

/** Repeatable: the same seed gives the same flood. */
export function xorshift(seed: number): () => number {
  let x = seed | 0 || 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) / 2 ** 32;
  };
}

/** One datagram of a kind, as an attacker would send it to this port. */
export function garbage(kind: GarbageKind, target: Target, random: () => number): Uint8Array {
  const between = (min: number, max: number) => min + Math.floor(random() * (max - min + 1));
  const noise = (length: number) => Uint8Array.from({ length }, () => between(0, 255));
  switch (kind) {
    case 'random':
      return noise(between(1, 600));
    case 'truncated': {
      const whole = command(between);
      whole[3] = TYPES[target.accepts];
      return whole.subarray(0, between(0, whole.length - 2));
    }
    case 'large':
      return tagged(target.accepts, `{"q":[${'0.1234567,'.repeat(200)}`.slice(0, between(1400, 1460)));
    case 'oversize': {
      const bytes = noise(between(2001, 4000));
      bytes.set(tagged(target.accepts, '{"'));
      return bytes;
    }
    case 'bad-json':
      return tagged(target.accepts, `{"session":${between(1, 1e6)},"seq":${between(1, 1e6)},}`);
    case 'wrong-port':
      return tagged(target.accepts === 'receipt' ? 'probe' : 'receipt', '{"session":1,"seq":1}');
    case 'replay':
      return target.accepts === 'hello' && target.name === 'robot state'
        ? tagged('hello', `{"session":${between(1, 2 ** 31)}}`)
        : command(between);
    case 'forged': {
      const bytes = noise(between(64, 400));
      bytes.set([0x46, 0x48, 0x31, 0x78]);
      // A counter far ahead passes the replay window, so the receiver must try its keys.
      bytes.set([between(1, 255), 0, 0, 0], SEAL_COUNTER_HIGH_BYTE);
      return bytes;
    }
  }
}

/** Well-formed in every field; only its sender is wrong. */
function command(between: (min: number, max: number) => number): Uint8Array {
  const body = {
    session: between(1, 2 ** 31 - 1),
    seq: between(1, 1e6),
    epoch: 1,
    engagement: 1,
    tracking: true,
    state_ns: between(1e9, 1e15),
    send_robot_ns: between(1e9, 1e15),
    q: [0.1, -1.2, 1.5, -0.3, 1.1, 0.2],
    gripper: 0.5,
    last: [],
  };
  const out = new Uint8Array(512);
  return out.slice(0, writeFrame('command', body, out));
}

function tagged(type: MessageType, text: string): Uint8Array {
  const body = new TextEncoder().encode(text);
  const bytes = new Uint8Array(TAG_BYTES + body.length);
  bytes.set([0x46, 0x48, 0x31, TYPES[type]]);
  bytes.set(body, TAG_BYTES);
  return bytes;
}
