import type { XrPacket, XrSide } from '../../src/input/codecs/webxr-codec.ts';

/** Joint names in WebXR order. */
const JOINT_NAMES = [
  'wrist',
  ...['thumb-metacarpal', 'thumb-phalanx-proximal', 'thumb-phalanx-distal', 'thumb-tip'],
  ...['index-finger', 'middle-finger', 'ring-finger', 'pinky-finger'].flatMap((finger) =>
    ['metacarpal', 'phalanx-proximal', 'phalanx-intermediate', 'phalanx-distal', 'tip'].map(
      (part) => `${finger}-${part}`,
    ),
  ),
] as XRHandJoint[];

const TRIGGER = 0;
const GRIP = 1;

/**
 * Reads both hands of a frame into `packet`. `followGuesses` also accepts emulated positions. It is for headset emulators,
 * which mark every position as emulated; on a real headset an emulated position drifts.
 */
export function readHands(
  frame: XRFrame,
  space: XRReferenceSpace,
  packet: XrPacket,
  followGuesses: boolean,
): void {
  packet.left.kind = packet.right.kind = 'none';
  packet.left.tracked = packet.right.tracked = false;
  for (const source of frame.session.inputSources) {
    if (source.handedness === 'none') continue;
    const side = packet[source.handedness];
    if (source.hand) readHand(frame, space, source.hand, side, followGuesses);
    else if (source.gripSpace) readController(frame, space, source, side, followGuesses);
  }
}

function readHand(
  frame: XRFrame,
  space: XRReferenceSpace,
  hand: XRHand,
  side: XrSide,
  followGuesses: boolean,
): void {
  let guessed = false;
  for (const [i, name] of JOINT_NAMES.entries()) {
    const joint = hand.get(name);
    const pose = joint && frame.getJointPose?.(joint, space);
    if (!pose) return;
    guessed ||= pose.emulatedPosition;
    put(side, i, pose.transform);
  }
  Object.assign(side, { kind: 'hand', tracked: followGuesses || !guessed, trigger: 0, grip: 0, buttons: 0 });
}

function readController(
  frame: XRFrame,
  space: XRReferenceSpace,
  source: XRInputSource,
  side: XrSide,
  followGuesses: boolean,
): void {
  const pose = source.gripSpace && frame.getPose(source.gripSpace, space);
  if (!pose) return;
  put(side, 0, pose.transform);
  const { buttons = [] } = source.gamepad ?? {};
  side.kind = 'controller';
  side.tracked = followGuesses || !pose.emulatedPosition;
  side.trigger = buttons[TRIGGER]?.value ?? 0;
  side.grip = buttons[GRIP]?.value ?? 0;
  side.buttons = buttons.slice(0, 8).reduce((bits, button, i) => bits | (button.pressed ? 1 << i : 0), 0);
}

function put({ jointsM, jointQuats }: XrSide, i: number, { position, orientation }: XRRigidTransform): void {
  jointsM[3 * i] = position.x;
  jointsM[3 * i + 1] = position.y;
  jointsM[3 * i + 2] = position.z;
  jointQuats[4 * i] = orientation.x;
  jointQuats[4 * i + 1] = orientation.y;
  jointQuats[4 * i + 2] = orientation.z;
  jointQuats[4 * i + 3] = orientation.w;
}
