import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { launchChromium } from '../../test/e2e/chromium.ts';
import { print } from '../bench.ts';
import { environment, environmentText } from '../environment.ts';
import { VerbProcess } from '../estop/verb-process.ts';
import { interruption } from '../interrupt.ts';

const START_MS = 120_000;
const SETTLE_MS = 5000;
const SECONDS = 10;
const TICKS_PER_S = 100;
const SIZES = [
  [1440, 900],
  [1024, 768],
  [390, 844],
] as const;

interface Row {
  widthPx: number;
  heightPx: number;
  /** Whether the page may draw as often as it can (`?fps=0`), or as often as it chooses. */
  unlimited: boolean;
  fps: number;
  browserCores: number;
}

export const pageBench: Verb = {
  name: 'page',
  usage: '[--seconds S] [--json] [KEY=VALUE ...]',
  about: 'Pictures per second of the Operate page with the simulated world, drawn in software.',
  details: `Starts the demo of \`npm start\`, whose expert moves, and a Chromium without a GPU. Counts the pictures of the 3D view
at three sizes, as the page chooses and as often as it can, and the processor time of the browser. Robot, physics and cameras
run on the same machine, so it must not be busy with anything else.`,
  options: {
    seconds: { type: 'string', value: 'S', about: `per row (default: ${SECONDS})` },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(pageBench, given, 0, 0);
    const seconds = numberOption(given, 'seconds', 1, 600) ?? SECONDS;
    const dir = mkdtempSync(path.join(os.tmpdir(), 'farhand-bench-'));
    const demo = new VerbProcess([
      ...['demo', '--rig', 'world', '--no-open', 'console.port=0', `trace.dir=${dir}/traces`],
      ...given.overrides,
    ]);
    const browser = await launchChromium([], 0);
    const rows: Row[] = [];
    try {
      const url = /http:\S+/.exec(await demo.waitFor(/console: http:/, START_MS, interruption))![0];
      for (const unlimited of [false, true])
        for (const [widthPx, heightPx] of SIZES)
          if (!interruption.aborted)
            rows.push({
              widthPx,
              heightPx,
              unlimited,
              ...(await look(browser, url, widthPx, heightPx, unlimited, seconds)),
            });
    } finally {
      await browser.close();
      await demo.end();
      rmSync(dir, { recursive: true, force: true });
    }
    const env = environment();
    print(
      given,
      { bench: 'page', environment: env, rows },
      `${environmentText(env)}\n\n${rows.map(line).join('\n')}`,
    );
    return 0;
  },
};

const line = ({ widthPx, heightPx, unlimited, fps, browserCores }: Row): string =>
  `${`${widthPx} × ${heightPx}`.padStart(12)}  ${unlimited ? 'as often as it can' : 'as the page chooses'}: ` +
  `${fps.toFixed(1)} pictures/s, browser ${browserCores.toFixed(2)} cores`;

async function look(
  browser: Browser,
  url: string,
  width: number,
  height: number,
  unlimited: boolean,
  seconds: number,
): Promise<Pick<Row, 'fps' | 'browserCores'>> {
  const page = await browser.newPage({ viewport: { width, height } });
  try {
    await page.addInitScript("localStorage.setItem('farhand-tour', 'seen')");
    await page.goto(unlimited ? `${url}?fps=0` : url);
    await page.locator('[data-testid="input-page"]:enabled').waitFor({ timeout: START_MS });
    await page.waitForTimeout(SETTLE_MS);
    const drawn = () => page.evaluate<number>('window.__farhand.frames');
    const [frames, ticks, fromMs] = [await drawn(), browserTicks(), performance.now()];
    await page.waitForTimeout(1000 * seconds);
    const tookS = (performance.now() - fromMs) / 1000;
    return {
      fps: ((await drawn()) - frames) / tookS,
      browserCores: (browserTicks() - ticks) / TICKS_PER_S / tookS,
    };
  } finally {
    await page.close();
  }
}

/** Processor time of our browser's processes; Linux only, elsewhere 0. */
function browserTicks(): number {
  const parents = new Map<number, { parent: number; name: string; ticks: number }>();
  try {
    for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
      const seen = statOf(Number(name));
      if (seen !== null) parents.set(Number(name), seen);
    }
  } catch {
    return 0;
  }
  const isOurs = (pid: number): boolean => {
    for (let at = pid; at > 1; at = parents.get(at)?.parent ?? 0) if (at === process.pid) return true;
    return false;
  };
  let sum = 0;
  for (const [pid, { name, ticks }] of parents)
    if (/^(chrom|headless)/.test(name) && isOurs(pid)) sum += ticks;
  return sum;
}

/** Null: the process has ended. */
function statOf(pid: number): { parent: number; name: string; ticks: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return { parent: fields[1] ?? 0, name, ticks: (fields[11] ?? 0) + (fields[12] ?? 0) };
  } catch {
    return null;
  }
}
