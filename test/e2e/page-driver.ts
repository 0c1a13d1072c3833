import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Telemetry } from '../../src/messages/telemetry.ts';

/** The gripper follows a key only after a while. */
const SETTLE_MS = 200;
const GRIP_MS = 900;

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

  /** Moves with the clutch held; the clutch is closed again after an involuntary hold. */
  async press(key: string, ms: number): Promise<void> {
    await this.centre();
    await this.engage();
    await this.page.keyboard.down(key);
    await this.page.waitForTimeout(ms);
    await this.page.keyboard.up(key);
    await this.page.waitForTimeout(SETTLE_MS);
  }

  /** Closes the clutch. After an involuntary hold, the key must be released before it closes the clutch again. */
  async engage(): Promise<void> {
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
  async centre(): Promise<void> {
    const far = ({ hand }: Telemetry) => Math.max(...(hand?.positionM ?? [0]).map(Math.abs));
    const seen = await this.telemetry();
    if (seen === undefined || far(seen) < 0.2) return;
    await this.release();
    await this.waitFor('an open clutch', ({ input }) => !input.clutch, 100);
    await this.page.keyboard.press('c');
    await this.waitFor('a hand in the middle', (now) => far(now) < 0.005, 100);
  }

  /** Opens or closes the gripper, and waits until it has. */
  async grip(): Promise<void> {
    await this.engage();
    await this.page.keyboard.press('g');
    await this.page.waitForTimeout(GRIP_MS);
  }

  async release(): Promise<void> {
    await this.page.keyboard.up('Shift');
  }
}
