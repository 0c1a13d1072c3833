import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { FleetConnection } from '../../src/fleet/connection.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { launchChromium } from './chromium.ts';
import { type Running, startFarhand } from './farhand.ts';
import { type FleetWorld, startFleetWorld } from './fleet-rig.ts';

const skip = needs('nats-server', 'chromium');
const MANY = 10_000;
const GROUPS = 20;
const STATES = ['idle', 'idle', 'idle', 'engaged', 'armed', 'stopped'];
/** In the document at any time: rows in sight and the page around them. */
const MOST_ELEMENTS = 2000;

// Ten thousand robots report several times before the page has them all.
describe('the page of a fleet of ten thousand', { skip, timeout: 180_000 }, () => {
  const folder = temporaryFolder();
  let world: FleetWorld;
  let robots: FleetConnection;
  let served: Running;
  let browser: Browser;
  let announcing: NodeJS.Timeout;
  const names = Array.from({ length: MANY }, (_, i) => `hall-${i % GROUPS}/r${String(i).padStart(5, '0')}`);

  const changed = new Map<string, string>();
  const announce = (robot: string) => {
    const state = changed.get(robot) ?? STATES[Number(robot.slice(-5)) % STATES.length]!;
    const presence = {
      ...{ kind: 'presence', robot, model: 'ur3', version: '1', state, cause: '', holder: null, link: null },
      atMs: Date.now(),
    };
    robots.nats.publish(subjects.presence(robot), JSON.stringify(presence));
  };

  before(async () => {
    world = await startFleetWorld(folder);
    const groups = Array.from({ length: GROUPS }, (_, i) => `hall-${i}/*`);
    robots = await world.enter('halls', 'robot', groups);
    let slot = 0;
    // A fiftieth every 100 ms: each robot every five seconds.
    announcing = setInterval(() => {
      for (let i = slot; i < MANY; i += 50) announce(names[i]!);
      slot = (slot + 1) % 50;
    }, 100);
    const file = await world.credentials('ann', 'operator', ['*']);
    served = startFarhand(['fleet', 'console', '--server', world.server.url, '--creds', file, '--port', '0']);
    // It scrolls through a hundred pictures.
    browser = await launchChromium([], 20);
  });
  after(async () => {
    clearInterval(announcing);
    await browser?.close();
    await served?.end();
    await world?.close();
  });

  it('shows all of them, scrolls, searches, and follows a change', async (t) => {
    const [, url = ''] = await served.waitFor(/fleet console: (http:\S+)/);
    const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
    await page.goto(url);
    const text = async (id: string) => (await page.getByTestId(id).textContent()) ?? '';
    const all = async () => (await text('fleet-summary')) === `${MANY} of ${MANY} robots online`;
    await until('all robots', all, () => text('fleet-summary'), 90_000);
    const elements = () => page.evaluate<number>('document.querySelectorAll("*").length');
    assert.ok((await elements()) < MOST_ELEMENTS, `${await elements()} elements`);
    const { frames, longMs } = await page.evaluate<{ frames: number[]; longMs: number[] }>(SCROLL);
    const sorted = [...frames].sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(0);
    t.diagnostic(
      `scrolling: frames p50 ${at(0.5)} ms, p95 ${at(0.95)} ms; ${longMs.length} tasks over 50 ms`,
    );
    assert.ok(
      await page.getByTestId(`robot-${names.toSorted().at(-1)}`).isVisible(),
      'the last robot is in sight',
    );
    assert.ok((await elements()) < MOST_ELEMENTS);
    await page.getByTestId('fleet-search').fill('r04242');
    await page.getByTestId('robot-hall-2/r04242').waitFor();
    changed.set('hall-2/r04242', 'hold');
    announce('hall-2/r04242');
    await until('the change', async () => /hold/.test(await text('state-hall-2/r04242')));
    await page.close();
  });
});

/** Scrolls from top to bottom in 120 frames. */
const SCROLL = `(async () => {
  const root = document.getElementById('page-fleet');
  const longMs = [];
  new PerformanceObserver((list) => longMs.push(...list.getEntries().map((e) => e.duration))).observe({ entryTypes: ['longtask'] });
  const frames = [];
  let last = performance.now();
  for (let i = 1; i <= 120; i++) {
    root.scrollTop = (root.scrollHeight - root.clientHeight) * (i / 120);
    await new Promise(requestAnimationFrame);
    frames.push(performance.now() - last);
    last = performance.now();
  }
  await new Promise((resolve) => setTimeout(resolve, 600));
  return { frames, longMs };
})()`;
