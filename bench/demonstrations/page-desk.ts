import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { OPEN_M } from '../../src/world/gripper-body.ts';
import { taskNamed } from '../../src/world/task-list.ts';
import { PageDriver } from '../../test/e2e/page-driver.ts';
import { KeyPerson } from './key-person.ts';

export interface Round {
  outcome: 'done' | 'failed';
  /** As the world counts it. */
  tookS: number;
}

/** A person at the Operate page who records one round after another, by keys. */
export class PageDesk {
  readonly #page: Page;
  readonly #driver: PageDriver;
  readonly #task: string;

  constructor(page: Page, task: string) {
    this.#page = page;
    this.#driver = new PageDriver(page);
    this.#task = task;
  }

  /** Chooses the keyboard and the task, and has every round recorded. */
  async sitDown(): Promise<void> {
    const page = this.#page;
    await this.#driver.waitFor('a world', ({ world }) => world != null);
    await page.locator('[data-testid="input-page"]:enabled').waitFor();
    await page.getByTestId('input-page').dispatchEvent('click');
    await this.#driver.waitFor('the page as input', ({ input }) => input.active === 'page');
    await page.getByTestId('task-choice').selectOption(this.#task);
    await this.#driver.waitFor('the task', ({ world }) => world?.task === this.#task);
    await page.getByTestId('record-repeat').dispatchEvent('click');
    await page.getByTestId('task-next').dispatchEvent('click');
  }

  /** One round; the next one begins by itself. */
  async round(seed: number): Promise<Round> {
    const begun = await this.begun();
    const { round } = begun.world!;
    const held = new Set<string>();
    const person = new KeyPerson(taskNamed(this.#task), seed);
    person.isClosed = (await this.#page.getAttribute('#gripper', 'aria-pressed')) === 'true';
    await this.#driver.centre();
    await this.#driver.engage();
    let last = begun;
    let dueMs = performance.now();
    for (const act of person.acts()) {
      if (act.kind === 'wait') {
        dueMs += 1000 * act.s;
        await sleep(Math.max(0, dueMs - performance.now()));
        continue;
      }
      if (act.kind === 'look') {
        const seen = await this.#look(person, last);
        if (seen.world?.round !== round || seen.world.outcome !== 'running') break;
        last = seen;
      } else await this.#key(act, held);
      dueMs = performance.now();
    }
    for (const code of held) await this.#page.keyboard.up(code);
    await this.#driver.release();
    return this.#outcomeOf(round, last);
  }

  /** Once a new round is being recorded: the page has put everything back. */
  begun(): Promise<Telemetry> {
    return this.#driver.waitFor(
      'a recording of a new round',
      ({ world, record }) => record?.state === 'recording' && world?.outcome === 'running',
    );
  }

  async #key({ kind, code }: { kind: 'down' | 'up'; code: string }, held: Set<string>): Promise<void> {
    if (kind === 'down') held.add(code);
    else held.delete(code);
    await this.#page.keyboard[kind](code);
  }

  /** Also closes the clutch again after a hold that nobody requested. */
  async #look({ seen }: KeyPerson, last: Telemetry): Promise<Telemetry> {
    const now = (await this.#driver.telemetry()) ?? last;
    if (now.robot?.state !== 'engaged') await this.#driver.engage();
    const { world, robot } = now;
    if (world == null || robot === null) return now;
    seen.gripM.set(world.gripM ?? []);
    seen.gripYawRad = world.gripYawRad ?? 0;
    seen.openingM = (1 - robot.gripper) * OPEN_M;
    seen.poses.set(world.poses.slice(0, seen.poses.length));
    return now;
  }

  /** A round that is over may have been replaced by the next one before anybody looked. */
  async #outcomeOf(round: number, last: Telemetry): Promise<Round> {
    const now = (await this.#driver.telemetry()) ?? last;
    const world = now.world?.round === round ? now.world : last.world!;
    const isOver = now.world?.round === round && now.world.outcome !== 'running';
    const failed = isOver ? world.outcome !== 'done' : world.elapsedS > world.limitS - 2;
    return { outcome: failed ? 'failed' : 'done', tookS: world.elapsedS };
  }
}
