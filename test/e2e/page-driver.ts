import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Telemetry, WorldTelemetry } from '../../src/messages/telemetry.ts';
import { WORLD_POSE_SIZE } from '../../src/messages/world-state.ts';

/** Keys towards and against each axis of the world: x ahead, y left, z up. */
const KEYS = [
  ['w', 's'],
  ['a', 'd'],
  ['e', 'q'],
] as const;
const KEY_SPEED_M_S = 0.25;
const ROLL_SPEED_RAD_S = 0.8;
/** The gripper follows a key only after a while. */
const SETTLE_MS = 200;

/** A person at the keyboard of the Operate page: looks, presses a key for a while, looks again. */
export class PageDriver {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  telemetry(): Promise<Telemetry | undefined> {
    return this.page.evaluate<Telemetry | undefined>('window.__farhand?.lastTelemetry');
  }

  /** A busy machine stalls, and then the robot rightly stops: this tests the page, not the watchdogs. */
  async carryOn(): Promise<void> {
    const { state } = (await this.telemetry())?.robot ?? {};
    const button = { stopped: 'reset', idle: 'arm' }[String(state)];
    if (button === undefined) return;
    await this.page
      .getByTestId(button)
      .click({ timeout: 500 })
      .catch(() => {});
  }

  async waitFor(what: string, holds: (seen: Telemetry) => boolean, tries = 1200): Promise<Telemetry> {
    for (let i = 0; i < tries; i++) {
      const seen = await this.telemetry();
      if (seen && holds(seen)) return seen;
      if (i % 20 === 19) await this.carryOn();
      await this.page.waitForTimeout(50);
    }
    const { robot, world, record } = (await this.telemetry()) ?? {};
    return assert.fail(`${what} not seen: ${JSON.stringify([robot, world, record])}`);
  }

  async world(): Promise<WorldTelemetry> {
    return (await this.waitFor('a world', ({ world }) => world?.gripM !== undefined)).world!;
  }

  /** Moves with the clutch held; the clutch is closed again after an involuntary hold. */
  async press(key: string, ms: number): Promise<void> {
    await this.#hold([[key, ms]]);
  }

  /** Several keys at once, each for its time. */
  async #hold(keys: readonly (readonly [key: string, ms: number])[]): Promise<void> {
    await this.#centre();
    await this.#closeClutch();
    for (const [key] of keys) await this.page.keyboard.down(key);
    let heldMs = 0;
    for (const [key, ms] of [...keys].sort((a, b) => a[1] - b[1])) {
      await this.page.waitForTimeout(Math.max(0, ms - heldMs));
      heldMs = Math.max(heldMs, ms);
      await this.page.keyboard.up(key);
    }
    await this.page.waitForTimeout(SETTLE_MS);
  }

  /** After an involuntary hold, the key must be released before it closes the clutch again. */
  async #closeClutch(): Promise<void> {
    for (let i = 0; i < 20; i++) {
      const { input, robot } = (await this.telemetry()) ?? {};
      if (input?.clutch && robot?.state === 'engaged') return;
      if (i % 5 === 0) {
        await this.carryOn();
        await this.page.keyboard.up('Shift');
        await this.page.keyboard.down('Shift');
      }
      await this.page.waitForTimeout(60);
    }
  }

  /** The page's hand moves in a box: near its side, let go and start from its middle again. */
  async #centre(): Promise<void> {
    const far = ({ hand }: Telemetry) => Math.max(...(hand?.positionM ?? [0]).map(Math.abs));
    const seen = await this.telemetry();
    if (seen === undefined || far(seen) < 0.2) return;
    await this.release();
    await this.waitFor('an open clutch', ({ input }) => !input.clutch, 100);
    await this.page.keyboard.press('c');
    await this.waitFor('a hand in the middle', (now) => far(now) < 0.005, 100);
  }

  async release(): Promise<void> {
    await this.page.keyboard.up('Shift');
  }

  /** Brings the gripper to a point of the world, axis by axis. False: it does not get there. */
  async goTo(pointM: readonly (number | null)[], nearM = 0.008): Promise<boolean> {
    for (let i = 0; i < 40; i++) {
      const world = await this.world();
      const gaps = pointM.map((target, axis) => (target === null ? 0 : target - world.gripM![axis]!));
      if (Math.max(...gaps.map(Math.abs)) < nearM) return true;
      // Two keys at once move the hand by the same length in all.
      const moves = gaps.flatMap((gap, axis) =>
        Math.abs(gap) < nearM / 2 ? [] : [[KEYS[axis]![gap > 0 ? 0 : 1], Math.abs(gap)] as const],
      );
      const share = 1000 / KEY_SPEED_M_S;
      await this.#hold(moves.map(([key, gap]) => [key, Math.min(900, gap * share)] as const));
      await this.carryOn();
    }
    return false;
  }

  /** Turns the gripper so that its pads are parallel to the sides of a cube. */
  async align(yawRad: number): Promise<void> {
    for (let i = 0; i < 10; i++) {
      const { gripYawRad = 0 } = await this.world();
      const quarter = Math.PI / 2;
      const gap = ((((yawRad - gripYawRad) % quarter) + 1.5 * quarter) % quarter) - quarter / 2;
      if (Math.abs(gap) < 0.12) return;
      await this.press(gap > 0 ? 'f' : 'r', (1000 * Math.abs(gap)) / ROLL_SPEED_RAD_S);
    }
  }

  async place(body: number): Promise<void> {
    const cube = bodyOf(await this.world(), body);
    await this.goTo([null, null, 0.14]);
    await this.align(cube.yawRad);
    await this.goTo([cube.atM[0]!, cube.atM[1]!, null]);
    await this.goTo([cube.atM[0]!, cube.atM[1]!, cube.atM[2]!], 0.012);
    await this.page.keyboard.press('g');
    await this.waitFor('a cube in the gripper', ({ world }) => (world?.held ?? -1) >= 0, 60);
    await this.goTo([null, null, 0.14], 0.02);
    const tray = bodyOf(await this.world(), 0);
    await this.goTo([tray.atM[0]!, tray.atM[1]!, null], 0.02);
    await this.goTo([null, null, 0.07], 0.02);
    await this.page.keyboard.press('g');
  }
}

export function bodyOf(world: WorldTelemetry, index: number): { atM: number[]; yawRad: number } {
  const at = index * WORLD_POSE_SIZE;
  const [x = 0, y = 0, z = 0, qw = 1, qx = 0, qy = 0, qz = 0] = world.poses.slice(at, at + WORLD_POSE_SIZE);
  return { atM: [x, y, z], yawRad: Math.atan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz)) };
}
