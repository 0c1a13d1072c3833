// Makes the pictures of all pages in docs/images anew, from the running product: npm run pictures, or with the names of some.
// Needs Chromium, and nats-server for the fleet's pages; build first. The pages of a demo are taken here, the others by tests.
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

process.chdir(path.resolve(import.meta.dirname, '..'));
const IMAGES = path.join('docs', 'images');

/** Pictures that a test takes on its way: [the test, its picture]. */
const BY_TESTS = {
  fleet: ['fleet-console', 'fleet-desk-dark'],
  'fleet-recordings': ['fleet-console', 'fleet-recordings'],
  'fleet-robot': ['fleet-console', 'fleet-robot'],
  pair: ['console-access', 'pair-offer'],
  trust: ['console-access', 'trust'],
  vr: ['console-headset', 'vr'],
  bento: ['bento-page', 'bento-scene-2'],
};

/** Pages of a demo: how each is brought to show something. */
const OF_A_DEMO = {
  console: async (page) => {
    await page.waitForTimeout(8000);
  },
  latency: async (page) => {
    await page.getByTestId('tab-latency').click();
    await page.waitForTimeout(12_000);
  },
  record: async (page) => {
    await page.getByTestId('tab-record').click();
    await page.getByTestId('task').fill('sort the cubes');
    await page.getByTestId('record-start').click();
    await page.waitForTimeout(8000);
    await page.getByTestId('record-stop').click();
    await page.locator('[data-testid^=episode-]').first().click();
    await page.getByTestId('scrub').fill('60');
    await page.waitForTimeout(2000);
  },
  devices: async (page) => {
    await page.getByTestId('tab-devices').click();
    await page.getByTestId('doctor').click();
    await page.getByTestId('findings').locator('li').first().waitFor();
    await page.waitForTimeout(500);
  },
};

const all = [...Object.keys(OF_A_DEMO), ...Object.keys(BY_TESTS)];
const wanted = process.argv.length > 2 ? process.argv.slice(2) : all;
const unknown = wanted.find((name) => !all.includes(name));
if (unknown !== undefined) {
  console.error(`There is no picture "${unknown}"; there are ${all.join(', ')}.`);
  process.exit(2);
}
await takeFromDemo(wanted.filter((name) => name in OF_A_DEMO));
takeFromTests(wanted.filter((name) => name in BY_TESTS));

async function takeFromDemo(names) {
  if (names.length === 0) return;
  const { launchChromium } = await import('../dist/test/e2e/chromium.js');
  const folder = mkdtempSync(path.join(tmpdir(), 'farhand-pictures-'));
  const demo = spawn(
    process.execPath,
    [path.resolve('bin', 'farhand'), 'demo', '--rig', 'world', '--no-open', 'console.port=0'],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, FARHAND_STATE: folder } },
  );
  const browser = await launchChromium();
  try {
    const url = await addressOf(demo);
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(url);
    await page.getByText('No, thanks').click();
    for (const name of names) {
      await page.getByTestId('tab-operate').click();
      // A machine that is too busy stops the robot: no picture shows that by accident.
      await page
        .getByTestId('state')
        .filter({ hasText: /engaged/i })
        .waitFor();
      await OF_A_DEMO[name](page);
      await page.screenshot({ path: path.join(IMAGES, `${name}.png`) });
      console.log(`wrote docs/images/${name}.png`);
    }
  } finally {
    await browser.close();
    demo.kill('SIGTERM');
    await new Promise((resolve) => demo.once('exit', resolve));
    rmSync(folder, { recursive: true });
  }
}

/** Where the demo serves its page. */
function addressOf(demo) {
  return new Promise((resolve, reject) => {
    let text = '';
    demo.stdout.on('data', (bytes) => {
      text += String(bytes);
      const url = /(http:\/\/localhost:\d+)/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    demo.once('exit', () => reject(new Error(`the demo ended: ${text}`)));
  });
}

function takeFromTests(names) {
  for (const test of new Set(names.map((name) => BY_TESTS[name][0]))) {
    const { status } = spawnSync(process.execPath, ['scripts/test.mjs', `e2e/${test}.`], {
      stdio: 'inherit',
    });
    if (status !== 0) process.exit(status ?? 1);
    for (const name of names.filter((each) => BY_TESTS[each][0] === test)) {
      copyFileSync(path.join('artifacts', `${BY_TESTS[name][1]}.png`), path.join(IMAGES, `${name}.png`));
      console.log(`wrote docs/images/${name}.png`);
    }
  }
}
