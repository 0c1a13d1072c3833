import { readFileSync } from 'node:fs';
import { loadPlugin, ownPluginNames } from '../../src/app/registry.ts';
import { emptyControls, encodeControls, MAX_CONTROLS_BYTES } from '../../src/input/codecs/controls-codec.ts';
import { emptyRctp, encodeRctp, RCTP_BYTES } from '../../src/input/codecs/rctp-codec.ts';
import { encodeEnvelope, XR_ENVELOPE_BYTES } from '../../src/input/codecs/webxr-codec.ts';
import { testInput } from '../../src/testing/input-contract.ts';

const text = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const jointTarget = (clutch: boolean) => ({ jointsRad: [0.1, -1.2, 1.3, 0, 0.5, 0], gripper: 0.25, clutch });

const quest = (JSON.parse(readFileSync('test/data/openteach.json', 'utf8')) as Vectors).openteach;
const headset = JSON.parse(readFileSync('protocol/vectors/webxr.json', 'utf8')) as { hex: string }[];
type Vectors = { openteach: { text: string }[] };

/**
 * What the sender of each device sends at an instant: a hand with the clutch closed. Every device used by a
 * person has one.
 */
const MESSAGES: Record<string, (nowNs: number) => Uint8Array> = {
  joints: () => text(jointTarget(true)),
  leader: () => text(jointTarget(true)),
  openteach: () => new TextEncoder().encode(quest[0]!.text),
  page: () => text({ positionM: [0.1, 1.2, -0.3], quatXyzw: [0, 0, 0.6, 0.8], gripper: 0.25, clutch: true }),
  pedal: () => controls([0, 0, 0, 0, 0, 0], [30]),
  spacemouse: () => controls([200, 0, -100, 0, 0, 50], []),
  rctp: (nowNs) => rctp(nowNs, false),
  webxr: (nowNs) => twoHands(nowNs, true),
};

/** The same with the clutch open. That of a SpaceMouse opens a moment after its cap has come to rest, not by a message. */
const RELEASED: Record<string, (nowNs: number) => Uint8Array> = {
  joints: () => text(jointTarget(false)),
  leader: () => text(jointTarget(false)),
  page: () => text({ positionM: [0.1, 1.2, -0.3], quatXyzw: [0, 0, 0.6, 0.8], gripper: 0.25, clutch: false }),
  pedal: () => controls([0, 0, 0, 0, 0, 0], []),
  webxr: (nowNs) => twoHands(nowNs, false),
};

/** The same with a request to stop the robot. */
const ESTOP: Record<string, (nowNs: number) => Uint8Array> = {
  pedal: () => controls([0, 0, 0, 0, 0, 0], [30, 31]),
  spacemouse: () => controls([200, 0, -100, 0, 0, 50], [0x101]),
  rctp: (nowNs) => rctp(nowNs, true),
  webxr: (nowNs) => {
    const bytes = twoHands(nowNs, true);
    bytes[XR_ENVELOPE_BYTES + 3]! |= 1;
    return bytes;
  },
};

function rctp(nowNs: number, estop: boolean): Uint8Array {
  const packet = { ...emptyRctp(), timestampS: nowNs / 1e9, gripper: 0.75, tracking: true, estop };
  packet.positionM.set([0.1, 1.2, -0.3]);
  packet.quatXyzw.set([0, 0, 0.6, 0.8]);
  const bytes = new Uint8Array(RCTP_BYTES);
  encodeRctp(packet, bytes);
  return bytes;
}

/** The first vector has two open hands; the clutch is the other hand's pinch. */
function twoHands(nowNs: number, isClosed: boolean): Uint8Array {
  const out = new Uint8Array(1024);
  const hands = Buffer.from(headset[0]!.hex, 'hex');
  if (isClosed) hands.copyWithin(32 + 20 + 3 * 14, 32 + 20 + 8 * 14, 32 + 20 + 9 * 14);
  hands.writeUInt32LE(nowNs / 1e3 / 64, 4);
  encodeEnvelope({ takenNs: nowNs, sentNs: nowNs, stream: 1 }, out, 0);
  out.set(hands, XR_ENVELOPE_BYTES);
  return out.subarray(0, XR_ENVELOPE_BYTES + hands.length);
}

function controls(axes: readonly number[], keys: readonly number[]): Uint8Array {
  const state = { ...emptyControls(), pressed: keys.length };
  state.axes.set(axes);
  state.keys.set(keys);
  const out = new Uint8Array(MAX_CONTROLS_BYTES);
  return out.slice(0, encodeControls(state, out));
}

/** Settings for devices whose defaults the suite cannot use. */
const OPTIONS: Record<string, Record<string, unknown>> = {
  // Without a clutch, the hand counts as soon as it is tracked.
  openteach: { resumeAfterMs: 0 },
  rctp: { resumeAfterMs: 0 },
  // With their defaults, nothing on them stops the robot.
  pedal: { estop: 31 },
  spacemouse: { rightButton: 'estop' },
};

for (const name of ownPluginNames('input')) {
  const [message, released, estop, options] = [MESSAGES[name], RELEASED[name], ESTOP[name], OPTIONS[name]];
  testInput(name, await loadPlugin('input', name), {
    ...(message === undefined ? {} : { message }),
    ...(released === undefined ? {} : { released }),
    ...(estop === undefined ? {} : { estop }),
    ...(options === undefined ? {} : { options }),
  });
}
