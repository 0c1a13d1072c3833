import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { footerLine, headerLine, motionLine, traceLine } from '../../src/trace/stamps.ts';
import { emptyVideoRecord, videoLine } from '../../src/trace/video.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { document002, runOf } from '../trace/run.ts';
import { launchChromium } from './chromium.ts';
import { farhand } from './farhand.ts';

const dir = temporaryFolder();

function traceFile(name: string, records: Parameters<typeof traceLine>[0][]): string {
  const file = path.join(dir, name);
  const session = {
    startedAt: new Date(0),
    session: 1,
    role: 'operator',
    stampSource: 'kernel',
    playout: 'none',
    rig: {},
  } as const;
  const frame = {
    ...emptyVideoRecord('front <b>'),
    captureNs: 5e6,
    receivedNs: 20e6,
    decodedNs: 23e6,
    displayedNs: 40e6,
    offsetNs: 0,
  };
  const others = [motionLine({ atNs: 9e9, latencyNs: 45e6, confidence: 0.98 }), videoLine(frame)];
  const lines = [headerLine(session), ...records.map(traceLine), ...others, footerLine(records.length, 0)];
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

describe('farhand trace', () => {
  const records = document002().slice(0, 9000);
  const file = traceFile('robot_trace_20260511-081422_00000001.jsonl', records);
  const page = path.join(dir, 'page.html');

  it('reports bad periods as text and as a page', async () => {
    const { code, stdout } = await farhand(['trace', 'report', file, '--html', page]);
    assert.equal(code, 0);
    assert.match(stdout, /Feel {6}\d+ of 80 seconds felt bad/);
    assert.match(stdout, /Bad periods:\n +0:5\d .*the network was slow/);
    assert.match(stdout, /Camera front .*captured → displayed p50 35\.000/);
    const json = JSON.parse((await farhand(['trace', 'report', file, '--json'])).stdout) as {
      feel: { badWindows: number };
      motionLatencyMs: { p50: number };
    };
    assert.ok(json.feel.badWindows >= 4);
    assert.equal(json.motionLatencyMs.p50, 45);
  });

  it('writes a page that opens without errors, light and dark', {
    skip: needs('chromium'),
  }, async () => {
    const browser = await launchChromium();
    try {
      for (const colorScheme of ['light', 'dark'] as const) {
        const tab = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 900 } });
        const errors: string[] = [];
        tab.on('console', (message) => errors.push(message.text()));
        tab.on('pageerror', (error) => errors.push(error.message));
        tab.on('request', (request) => {
          if (!/^(file|data):/.test(request.url())) errors.push(request.url());
        });
        await tab.goto(`file://${page}`);
        await tab.locator('#series').hover();
        assert.match((await tab.locator('#readout').textContent()) ?? '', /p50 [\d.]+ +p95/);
        assert.match((await tab.locator('.verdict h2').textContent()) ?? '', /of 80 seconds felt bad/);
        assert.ok((await tab.locator('.heat-bad').count()) >= 4);
        assert.equal(await tab.locator('section', { hasText: 'The worst 20 commands' }).count(), 1);
        const wide = await tab.evaluate('document.documentElement.scrollWidth > innerWidth');
        assert.equal(wide, false);
        assert.deepEqual(errors, []);
        await tab.close();
      }
    } finally {
      await browser.close();
    }
  });

  it('compares two runs, exports to Perfetto and shows a trace in the terminal', async () => {
    const other = traceFile('b.jsonl', runOf({ seconds: 40, wireMs: (_, random) => 5 + random() }));
    const { stdout: text } = await farhand(['trace', 'diff', file, other]);
    assert.match(text, /^Wire p50 ms .* differs$/m);
    const out = path.join(dir, 'perfetto.json');
    assert.equal((await farhand(['trace', 'export', other, '--perfetto', out])).code, 0);
    const { traceEvents } = JSON.parse(readFileSync(out, 'utf8')) as { traceEvents: unknown[] };
    assert.ok(traceEvents.length > 4000 * 10 && statSync(out).size > 1e6);
    const top = await farhand(['top', file, '--once']);
    assert.match(top.stdout, /feel: \d+ bad, \d+ strict of 80 seconds/);
    assert.ok(!top.stdout.includes('\u001b'), 'no colours without a terminal');
  });

  it('rejects wrong arguments with a hint', async () => {
    for (const [args, message] of [
      [['trace', 'diff', file], /needs two trace files/],
      [['trace', 'export', file], /needs --perfetto OUT/],
      [['trace', 'report', file, '--html', path.join(dir, 'none', 'x.html')], /cannot be written/],
      [['top', path.join(dir, 'nowhere')], /no folder or file/],
      [['top', temporaryFolder(), '--once'], /contains no trace yet/],
    ] as const) {
      const { code, stderr } = await farhand(args);
      assert.equal(code, 2);
      assert.match(stderr, message);
      assert.match(stderr, /→ \w/);
    }
  });
});
