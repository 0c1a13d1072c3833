import type { XrPacket } from '../../src/input/codecs/webxr-codec.ts';

/** `interactionMode` of WebXR's AR module: a phone's session is on its screen. */
export const isPhone = (session: XRSession): boolean =>
  (session as XRSession & { interactionMode?: string }).interactionMode === 'screen-space';

/** Counts fingers on the screen. Buttons of the page are not the robot's clutch. */
export class Fingers {
  readonly #down = new Set<number>();

  constructor(surface: HTMLElement) {
    const isButton = ({ target }: Event) =>
      target instanceof Element && target.closest('button, a, input, summary');
    surface.addEventListener('pointerdown', (event) => {
      if (!isButton(event)) this.#down.add(event.pointerId);
    });
    for (const name of ['pointerup', 'pointercancel'] as const)
      window.addEventListener(name, (event) => this.#down.delete(event.pointerId));
    // A press on a button is not an XR selection either.
    surface.addEventListener('beforexrselect', (event) => {
      if (isButton(event)) event.preventDefault();
    });
  }

  get count(): number {
    return this.#down.size;
  }

  clear(): void {
    this.#down.clear();
  }
}

/**
 * A phone is a hand: its pose is the controller's, one finger on the screen closes the clutch, a second one the gripper. Fingers arrive
 * as the page's pointers where the page lies over the camera, otherwise as XR input sources, one per finger. Both sides carry it, so that
 * it drives whichever hand the rig has chosen.
 */
export function readPhone(
  frame: XRFrame,
  space: XRReferenceSpace,
  packet: XrPacket,
  fingers: Fingers,
  followGuesses: boolean,
): void {
  const pose = frame.getViewerPose(space);
  const touches = Math.max(fingers.count, onScreen(frame.session.inputSources));
  for (const side of [packet.left, packet.right]) {
    side.kind = pose === undefined || pose === null ? 'none' : 'controller';
    side.tracked = pose != null && (followGuesses || !pose.emulatedPosition);
    side.grip = touches > 0 ? 1 : 0;
    side.trigger = touches > 1 ? 1 : 0;
    side.buttons = 0;
    if (pose == null) continue;
    const { position, orientation } = pose.transform;
    side.jointsM.set([position.x, position.y, position.z]);
    side.jointQuats.set([orientation.x, orientation.y, orientation.z, orientation.w]);
  }
}

function onScreen(sources: XRInputSourceArray): number {
  let count = 0;
  for (const { targetRayMode } of sources) if (targetRayMode === 'screen') count++;
  return count;
}
