import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import type { EpisodeList } from '../../src/messages/console.ts';
import { loadMujoco } from '../../src/world/mujoco.ts';
import { launchChromium } from '../../test/e2e/chromium.ts';
import { print } from '../bench.ts';
import { environment, environmentText } from '../environment.ts';
import { VerbProcess } from '../estop/verb-process.ts';
import { interruption } from '../interrupt.ts';
import { runTrial } from '../tasks/trial.ts';
import { PageDesk, type Round } from './page-desk.ts';
import { simulatedKeys } from './simulated-keys.ts';

const EPISODES = 50;
const START_MS = 120_000;
/** An episode is listed once its file is closed. */
const LISTED_MS = 3000;

interface Result {
  rounds: Round[];
  /** From the first round's start to the start of the round after the last one. */
  tookS: number;
  /** Files labelled as a success, as the console lists them; null: simulated. */
  kept: number | null;
}

export const demonstrationsBench: Verb = {
  name: 'demonstrations',
  usage: '[--episodes N] [--task sort] [--simulated] [--json] [KEY=VALUE ...]',
  about: 'Demonstrations per hour that a modelled person records through the page, by keyboard.',
  details: `Starts the demo of \`npm start\` and a Chromium, chooses the keyboard and *record every round*, and presses keys as a
person would (bench/demonstrations/key-person.ts): looks, holds keys for as long as the distance takes, waits until the arm has
followed, looks again. Rounds are recorded, kept and reset by the page; nobody leaves it. Needs a machine that is not busy: page,
browser, physics and cameras run in real time. \`--simulated\` is the same person and the page's hand on a manual clock, without
page and recorder: the load of the machine changes nothing but the time it takes.`,
  options: {
    episodes: { type: 'string', value: 'N', about: `rounds (default: ${EPISODES})` },
    task: { type: 'string', value: 'NAME', about: 'task of the simulated world (default: sort)' },
    simulated: { type: 'boolean', about: 'on a manual clock, without the page' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(demonstrationsBench, given, 0, 0);
    const episodes = numberOption(given, 'episodes', 1, 10_000) ?? EPISODES;
    const task = String(given.values['task'] ?? 'sort');
    const simulated = given.values['simulated'] === true;
    const result = simulated
      ? await simulate(episodes, task)
      : await throughPage(episodes, task, given.overrides);
    const env = environment();
    const figures = figuresOf(result);
    const json = {
      bench: 'demonstrations',
      environment: env,
      task,
      simulated,
      ...figures,
      rounds: result.rounds,
    };
    print(given, json, text(environmentText(env), task, simulated, figures));
    return figures.successes > 0 ? 0 : 1;
  },
};

async function simulate(episodes: number, task: string): Promise<Result> {
  const mujoco = await loadMujoco();
  const rounds: Round[] = [];
  for (let seed = 1; seed <= episodes && !interruption.aborted; seed++) {
    const settings = { model: 'ur3', task, seed, link: 'off', playout: 'adaptive' } as const;
    const { success, timeS } = await runTrial(mujoco, settings, simulatedKeys);
    rounds.push({ outcome: success ? 'done' : 'failed', tookS: timeS });
    console.error(`round ${seed}: ${success ? 'done' : 'failed'} after ${timeS.toFixed(1)} s`);
  }
  return { rounds, tookS: rounds.reduce((sum, { tookS }) => sum + tookS, 0), kept: null };
}

async function throughPage(episodes: number, task: string, overrides: readonly string[]): Promise<Result> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'farhand-bench-'));
  const demo = new VerbProcess([
    ...['demo', '--rig', 'world', '--no-open', 'console.port=0', `trace.dir=${dir}/traces`],
    `record.dir=${dir}/recordings`,
    ...overrides,
  ]);
  const browser = await launchChromium();
  try {
    const line = await demo.waitFor(/console: http:/, START_MS, interruption);
    const page = await browser.newPage({ viewport: { width: 860, height: 600 } });
    page.setDefaultTimeout(START_MS);
    // Not a newcomer who is offered the tour.
    await page.addInitScript("localStorage.setItem('farhand-tour', 'seen')");
    await page.goto(/http:\S+/.exec(line)![0]);
    const desk = new PageDesk(page, task);
    await desk.sitDown();
    console.error('the page drives');
    const rounds: Round[] = [];
    await desk.begun();
    const startMs = performance.now();
    for (let i = 1; i <= episodes && !interruption.aborted; i++) {
      const round = await desk.round(i);
      rounds.push(round);
      console.error(`round ${i}: ${round.outcome} after ${round.tookS.toFixed(1)} s`);
    }
    // With the last reset: each round pays for the one after it, so few rounds give the figure of many.
    if (!interruption.aborted) await desk.begun();
    const tookS = (performance.now() - startMs) / 1000;
    await page.waitForTimeout(LISTED_MS);
    const list = await page.evaluate<EpisodeList>("fetch('api/episodes').then((answer) => answer.json())");
    const kept = list.episodes.filter(({ label }) => label === 'success').length;
    return { rounds, tookS, kept };
  } finally {
    await browser.close();
    await demo.end();
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Figures {
  rounds: number;
  successes: number;
  kept: number | null;
  tookS: number;
  /** Of the successes. */
  medianS: number | null;
  slowestS: number | null;
  perHour: number;
}

function figuresOf({ rounds, tookS, kept }: Result): Figures {
  const done = rounds.filter(({ outcome }) => outcome === 'done').map((round) => round.tookS);
  done.sort((a, b) => a - b);
  const successes = kept ?? done.length;
  return {
    ...{ rounds: rounds.length, successes, kept, tookS },
    medianS: done[Math.floor(done.length / 2)] ?? null,
    slowestS: done.at(-1) ?? null,
    perHour: tookS > 0 ? (3600 * successes) / tookS : 0,
  };
}

function text(env: string, task: string, simulated: boolean, figures: Figures): string {
  const { rounds, successes, medianS, slowestS, tookS, perHour } = figures;
  const where = simulated ? 'on a manual clock, without the page' : 'through the page';
  return `${env}

${task} by keyboard, ${where}: ${successes} of ${rounds} rounds kept as success in ${(tookS / 60).toFixed(1)} min
time per success: ${medianS === null ? '–' : `${medianS.toFixed(1)} s (median), ${slowestS!.toFixed(1)} s (slowest)`}
demonstrations per hour, ${simulated ? 'without' : 'with'} the resets between them: ${perHour.toFixed(0)}`;
}
