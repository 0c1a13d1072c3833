import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { runDemo } from '../../src/app/run-demo.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { readTraceParts } from '../../src/trace/read-file.ts';
import { PROFILES, type ProfileName } from '../../src/wire/emulator/profiles.ts';
import { launchChromium } from '../../test/e2e/chromium.ts';
import { print } from '../bench.ts';
import { PageDesk } from '../demonstrations/page-desk.ts';
import { environment, environmentText } from '../environment.ts';
import { interrupted } from '../interrupt.ts';
import { type Check, checkText } from '../text-table.ts';

const LINKS: readonly ProfileName[] = ['off', 'wifi', '5g', 'wan', 'loss2'];
const SECONDS = 60;
/** What a pulse may take beyond the link. */
const MOST_MS = 20;
/** A contact is read with the robot's next cycle. */
const CYCLE_MS = 5;
/** Fewer say nothing about a 95th percentile. */
const ENOUGH = 20;

/** A gamepad whose motor accepts every effect. */
const GAMEPAD = `(() => {
  localStorage.setItem('farhand-tour', 'seen');
  const buttons = Array.from({ length: 17 }, () => ({ pressed: false, touched: false, value: 0 }));
  const vibrationActuator = { playEffect: async () => 'complete' };
  const pad = { connected: true, mapping: 'standard', axes: [0, 0, 0, 0], buttons, vibrationActuator };
  Object.defineProperty(navigator, 'getGamepads', { value: () => [pad] });
})()`;

interface Run {
  link: ProfileName;
  pulses: number;
  /** From the contact, which is up to a cycle older than its reading, to the pulse. */
  pulseMs: Percentiles | null;
  /** One way from the robot to the operator, by the emulated link. */
  oneWayMs: Percentiles | null;
}

export const touchBench: Verb = {
  name: 'touch',
  usage: '[--links NAMES] [--seconds S] [--json]',
  about: 'From a contact of the arm to the pulse of a gamepad, in a browser, over emulated links.',
  details: `A simulated person sorts cubes by keys, in a page in Chromium that has a simulated gamepad. Every pulse is a line of the
trace. The bound holds at the 95th percentile: a pulse may take ${MOST_MS} ms beyond the link's one-way time. Needs Chromium and a
quiet machine of two cores or more: physics, three processes and a browser that draws in software share it.`,
  options: {
    links: { type: 'string', value: 'NAMES', about: `emulated links (default: ${LINKS.join(',')})` },
    seconds: { type: 'string', value: 'S', about: `length of each run (default: ${SECONDS})` },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(touchBench, given, 0, 0);
    const seconds = numberOption(given, 'seconds', 10, 3600) ?? SECONDS;
    const names = (
      given.values['links'] === undefined ? LINKS : String(given.values['links']).split(',')
    ) as readonly ProfileName[];
    const unknown = names.find((name) => PROFILES[name] === undefined);
    if (unknown !== undefined) throw new Error(`there is no link ${unknown}`);
    const env = environment();
    const runs: Run[] = [];
    for (const link of names) {
      const run = await runOver(link, seconds);
      runs.push(run);
      console.error(rowText(run));
    }
    const checks = runs.map(checkOf);
    print(
      given,
      { bench: 'touch', environment: env, seconds, runs, checks },
      [environmentText(env), '', HEAD, ...runs.map(rowText), '', ...checks.map(checkText)].join('\n'),
    );
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

async function runOver(link: ProfileName, seconds: number): Promise<Run> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'farhand-bench-'));
  const browser = await launchChromium();
  try {
    const result = await runDemo({
      rig: 'world',
      overrides: [
        ...['console.port=0', 'cameras.list={}', 'operator.input=page'],
        ...[`trace.dir=${dir}/traces`, `record.dir=${dir}/recordings`],
      ],
      ...{ headless: false, durationS: seconds, link, stop: interrupted, say: () => {} },
      onUrl: (url) =>
        void drive(browser, url).catch((error: Error) => {
          // It ends in the middle of a round.
          if (browser.isConnected()) console.error(error.message);
        }),
    });
    const tookMs: number[] = [];
    await readTraceParts(result.tracePath, () => {}, undefined, {
      onTouch: ({ readNs, givenNs, offsetNs }) =>
        tookMs.push((givenNs - (readNs - offsetNs)) / 1e6 + CYCLE_MS),
    });
    const known = tookMs.filter(Number.isFinite);
    const oneWayMs = result.link === null ? null : result.link.return.delayMs;
    return { link, pulses: known.length, pulseMs: percentiles(known), oneWayMs };
  } finally {
    await browser.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A person at the keys sorts cubes until the browser is closed: the page pulses while it is the input. */
async function drive(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 860, height: 600 } });
  await page.addInitScript(GAMEPAD);
  await page.goto(url);
  const desk = new PageDesk(page, 'sort');
  await desk.sitDown();
  for (let seed = 1; !page.isClosed(); seed++) await desk.round(seed);
}

const HEAD = 'link          pulses   contact → pulse p50      p95      max ms   one way p50     p95 ms';
const column = (ms: number | undefined): string => (ms?.toFixed(1) ?? '–').padStart(9);

const rowText = ({ link, pulses, pulseMs, oneWayMs }: Run): string =>
  [
    link.padEnd(14),
    String(pulses).padStart(6),
    `${''.padEnd(14)}${column(pulseMs?.p50)}${column(pulseMs?.p95)}${column(pulseMs?.max)}`,
    `   ${column(oneWayMs?.p50)}${column(oneWayMs?.p95)}`,
  ].join('');

function checkOf({ link, pulses, pulseMs, oneWayMs }: Run): Check {
  const most = (oneWayMs?.p95 ?? 0) + MOST_MS;
  const p95 = pulseMs?.p95 ?? Number.POSITIVE_INFINITY;
  return {
    what: `contact → pulse over ${link}, p95`,
    ok: pulses >= ENOUGH && p95 <= most,
    found: `${p95.toFixed(1)} ms of ${pulses} (at most ${most.toFixed(1)}, at least ${ENOUGH} pulses)`,
  };
}
