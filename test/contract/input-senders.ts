import { readFileSync } from 'node:fs';
import { emptyControls, encodeControls, MAX_CONTROLS_BYTES } from '../../src/input/codecs/controls-codec.ts';
import { emptyRctp, encodeRctp, RCTP_BYTES } from '../../src/input/codecs/rctp-codec.ts';
import {
  emptyXr,
  encodeEnvelope,
  encodeXr,
  XR_ENVELOPE_BYTES,
  type XrSide,
} from '../../src/input/codecs/webxr-codec.ts';
import { encodeTarget } from '../../src/leader/joints-sink.ts';

/** What the person does at an instant. */
export interface Grip {
  closed: boolean;
  /** The driving hand is tracked. */
  seen: boolean;
  /** The hand, or whatever else holds the clutch, is tracked. */
  clutchSeen: boolean;
  /** A new number is a new sender: a program, a page, a headset's session. */
  sender: number;
}

/** The bytes that a device's real sender sends, 50 times a second. */
export interface InputSender {
  /** How they reach the operator: its input's socket, or the console's datagrams. */
  via: 'socket' | 'hand' | 'hands';
  /** What differs between senders: their sockets; or, behind one console, a number in the message. */
  differBy: 'socket' | 'number';
  /** Silence after which the device is stale, with its default settings. */
  staleMs: number;
  /** The sender can report that it lost the hand, or the clutch. */
  loses: readonly ('seen' | 'clutchSeen')[];
  /** Settings of the input, if it needs others than its defaults. */
  options?: Record<string, unknown>;
  message(nowNs: number, count: number, grip: Grip): Uint8Array;
}

const text = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** A flat hand; thumb and index tips `gapM` apart. */
function handAt(side: XrSide, xM: number, gapM: number): void {
  side.kind = 'hand';
  const put = (joint: number, x: number, z: number) => side.jointsM.set([xM + x, 1.2, z - 0.4], 3 * joint);
  put(0, 0, 0);
  for (let i = 1; i <= 3; i++) put(i, 0.03 + 0.01 * i, -0.03 * i);
  [0.02, 0, -0.02, -0.04].forEach((x, finger) => {
    for (const [k, z] of [0.03, 0.09, 0.13, 0.155, 0.175].entries()) put(5 + 5 * finger + k, x, -z);
  });
  put(4, 0.02 + gapM, -0.175);
}

function headset(nowNs: number, count: number, { closed, seen, clutchSeen, sender }: Grip): Uint8Array {
  const packet = { ...emptyXr(), visible: true, seq: count };
  handAt(packet.right, 0.2, 0.08);
  handAt(packet.left, -0.2, closed ? 0.01 : 0.1);
  packet.right.tracked = seen;
  packet.left.tracked = clutchSeen;
  const out = new Uint8Array(1400);
  encodeEnvelope({ takenNs: nowNs, sentNs: nowNs, stream: sender }, out, 0);
  return out.slice(0, XR_ENVELOPE_BYTES + encodeXr(packet, out.subarray(XR_ENVELOPE_BYTES)));
}

function rctp(_nowNs: number, count: number, { seen }: Grip): Uint8Array {
  const packet = { ...emptyRctp(), timestampS: count / 50, gripper: 0.5, tracking: seen };
  packet.positionM.set([0, 1.2, -0.3]);
  packet.quatXyzw.set([0, 0, 0, 1]);
  const bytes = new Uint8Array(RCTP_BYTES);
  encodeRctp(packet, bytes);
  return bytes;
}

const quest = JSON.parse(readFileSync('test/data/openteach.json', 'utf8')) as {
  openteach: { text: string }[];
};
const HOME_RAD = [0, -1.2, 1.3, 0, 0.5, 0];

/** Axes as given; the key is pressed while the clutch is closed. */
function controls(axes: readonly number[], key: number): InputSender['message'] {
  return (_nowNs, _count, { closed }) => {
    const state = { ...emptyControls(), pressed: closed ? 1 : 0 };
    state.axes.set(axes);
    state.keys[0] = key;
    const out = new Uint8Array(MAX_CONTROLS_BYTES);
    return out.slice(0, encodeControls(state, out));
  };
}

const SENDERS: Record<string, InputSender> = {
  joints: {
    via: 'socket',
    differBy: 'socket',
    staleMs: 250,
    loses: [],
    message: (_nowNs, _count, { closed }) => text({ jointsRad: HOME_RAD, gripper: 0.25, clutch: closed }),
  },
  leader: {
    via: 'socket',
    differBy: 'socket',
    staleMs: 250,
    loses: [],
    message: (_nowNs, _count, { closed }) =>
      new TextEncoder().encode(
        encodeTarget({ jointsRad: HOME_RAD, gripper: 0.25, clutch: closed, handBacks: 0 }),
      ),
  },
  openteach: {
    via: 'socket',
    differBy: 'socket',
    staleMs: 150,
    loses: [],
    message: () => new TextEncoder().encode(quest.openteach[0]!.text),
  },
  page: {
    via: 'hand',
    differBy: 'number',
    staleMs: 200,
    loses: [],
    message: (_nowNs, _count, { closed, sender }) =>
      text({
        positionM: [0, 1.2, -0.3],
        quatXyzw: [0, 0, 0, 1],
        gripper: 0.25,
        clutch: closed,
        page: sender,
      }),
  },
  pedal: { via: 'socket', differBy: 'socket', staleMs: 120, loses: [], message: controls([], 30) },
  spacemouse: {
    via: 'socket',
    differBy: 'socket',
    staleMs: 120,
    loses: [],
    // The cap keeps the clutch closed for half a second: the button shows its opening at once.
    message: controls([200, 0, 0, 0, 0, 0], 0x100),
    options: { leftButton: 'clutch' },
  },
  rctp: { via: 'socket', differBy: 'socket', staleMs: 150, loses: ['seen'], message: rctp },
  webxr: { via: 'hands', differBy: 'number', staleMs: 150, loses: ['seen', 'clutchSeen'], message: headset },
};

/** The sender of an input, and for those behind a console also several programs that all give the same number. */
export function sendersOf(name: string): [title: string, sender: InputSender | null][] {
  const sender = SENDERS[name] ?? null;
  if (sender?.differBy !== 'number') return [[name, sender]];
  const message: InputSender['message'] = (nowNs, count, grip) =>
    sender.message(nowNs, count, { ...grip, sender: 1 });
  return [
    [name, sender],
    [`${name} from several sockets`, { ...sender, differBy: 'socket', message }],
  ];
}
