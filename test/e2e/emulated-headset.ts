import path from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { HAND_SHAPES, type HandShapeName, shapeHand } from '../../src/hand/model-hand.ts';
import { HAND_NUMBERS, spreadHandPoints } from '../../src/hand/points.ts';
import { root } from './farhand.ts';

/** Lets a browser and a server on a host without a network find each other. */
export const LOOPBACK_PEERS = [
  '--allow-loopback-in-peer-connection',
  '--disable-features=WebRtcHideLocalIpsWithMdns',
];

/**
 * Meta's Quest 3 emulator in every page of the context, with hands. Two quirks: controller positions are always marked
 * as emulated, and frames arrive at the display's rate whatever the session requests.
 */
export async function emulateQuest(context: BrowserContext): Promise<void> {
  await context.addInitScript({ path: path.join(root, 'node_modules', 'iwer', 'build', 'iwer.js') });
  await context.addInitScript(`{
    const quest = new IWER.XRDevice(IWER.metaQuest3);
    quest.installRuntime({ forceInstall: true });
    quest.primaryInputMode = 'hand';
    for (const hand of [quest.hands.left, quest.hands.right]) {
      const { poses } = hand[IWER.P_HAND_INPUT];
      const fist = structuredClone(poses.default);
      const place = (name) => fist.jointTransforms[name].offsetMatrix;
      for (const finger of ['index', 'middle', 'ring', 'pinky'])
        for (let i = 12; i < 15; i++)
          place(finger + '-finger-tip')[i] =
            place('wrist')[i] + 0.9 * (place(finger + '-finger-phalanx-proximal')[i] - place('wrist')[i]);
      poses.fist = fist;
    }
    window.quest = quest;
  }`);
}

/**
 * An Android phone: AR on its screen, no VR, no controllers. The page over its camera (`dom-overlay`) is requested but not emulated: a test
 * sends its pointers to the page itself.
 */
export async function emulatePhone(context: BrowserContext): Promise<void> {
  await context.addInitScript({ path: path.join(root, 'node_modules', 'iwer', 'build', 'iwer.js') });
  await context.addInitScript(`{
    const { metaQuest3 } = IWER;
    window.phone = new IWER.XRDevice({
      ...metaQuest3,
      name: 'Android phone',
      controllerConfig: undefined,
      supportedSessionModes: ['inline', 'immersive-ar'],
      supportedFeatures: ['viewer', 'local', 'local-floor'],
      interactionMode: 'screen-space',
    });
    phone.installRuntime({ forceInstall: true });
  }`);
}

export type Side = 'left' | 'right';

function leftJointsM(shape: HandShapeName): number[][] {
  const pointsM = new Float64Array(HAND_NUMBERS);
  shapeHand(HAND_SHAPES[shape], { positionM: [0, 0, 0], pitchRad: 0 }, true, pointsM);
  const jointsM = new Float64Array(3 * 25);
  spreadHandPoints(pointsM, 25, 'rh', jointsM);
  return Array.from({ length: 25 }, (_, i) => [...jointsM.subarray(3 * i, 3 * i + 3)]);
}

export class Wearer {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async place(side: Side, [x, y, z]: readonly [number, number, number]): Promise<void> {
    await this.#page.evaluate(`quest.hands.${side}.position.set(${x}, ${y}, ${z})`);
  }

  async pinch(side: Side, closed: boolean): Promise<void> {
    await this.#page.evaluate(`quest.hands.${side}.updatePinchValue(${closed ? 1 : 0})`);
  }

  async shape(side: Side, pose: 'default' | 'fist'): Promise<void> {
    await this.#page.evaluate(`quest.hands.${side}.poseId = '${pose}'`);
  }

  /** Shows a shape of the model hand, palm down. */
  async show(side: Side, shape: HandShapeName): Promise<void> {
    await this.#page.evaluate(`{
      const hand = quest.hands.${side};
      const { poses } = hand[IWER.P_HAND_INPUT];
      const pose = structuredClone(poses.default);
      // Joints are in WebXR's order; the emulator mirrors left hands.
      ${JSON.stringify(leftJointsM(shape))}.forEach((place, i) => {
        const joint = Object.values(pose.jointTransforms)[i];
        joint.offsetMatrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, ...place, 1];
      });
      poses['shown-${side}'] = pose;
      hand.poseId = 'shown-${side}';
    }`);
  }

  async see(side: Side, seen: boolean): Promise<void> {
    await this.#page.evaluate(`quest.hands.${side}.connected = ${seen}`);
  }

  /** Moves a hand to and fro along x in the page for a while: ±8 cm with a period of two seconds. */
  async wave(side: Side, from: readonly [number, number, number], ms: number): Promise<void> {
    await this.#page.evaluate(`new Promise((resolve) => {
      const started = performance.now();
      const timer = setInterval(() => {
        const t = performance.now() - started;
        quest.hands.${side}.position.set(${from[0]} + 0.08 * Math.sin(t / 1000 * Math.PI), ${from[1]}, ${from[2]});
        if (t < ${ms}) return;
        clearInterval(timer);
        resolve();
      }, 8);
    })`);
  }
}
