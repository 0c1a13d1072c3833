import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { LiveProfile, type ProfileSnapshot } from '../../src/profiler/live-profile.ts';
import { followTrace, startProfiler } from '../../src/profiler/profile-server.ts';
import { topFrame } from '../../src/profiler/top-frame.ts';
import { headerLine, motionLine, traceLine } from '../../src/trace/stamps.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { document002, runOf } from './run.ts';

const dir = temporaryFolder('profiler');

const HEADER = headerLine({
  startedAt: new Date('2026-05-11T08:14:22Z'),
  session: 1,
  role: 'operator',
  stampSource: 'kernel',
  playout: 'fixed:60',
  rig: {},
});
const nameOf = (time: string, part = '') =>
  path.join(dir, `robot_trace_20260511-${time}_00000001${part}.jsonl`);
const linesOf = (records: Parameters<typeof traceLine>[0][]) =>
  records.map((record) => `${traceLine(record)}\n`).join('');

describe('the profiler', () => {
  it('follows a growing trace, its parts and the next run, through torn lines', () => {
    const records = runOf({ seconds: 20, wireMs: () => 3 });
    const first = nameOf('081422');
    writeFileSync(first, `${HEADER}\n${linesOf(records.slice(0, 500))}`);
    const { profile, poll, close } = followTrace(dir);
    poll();
    const torn = linesOf(records.slice(500, 1001));
    appendFileSync(first, torn.slice(0, 70_001));
    poll();
    appendFileSync(first, torn.slice(70_001) + linesOf(records.slice(1001, 1500)));
    poll();
    writeFileSync(nameOf('081422', '_2'), `${HEADER}\n${linesOf(records.slice(1500))}`);
    poll();
    profile.settle();
    assert.equal(profile.snapshot().commands, 2000);
    assert.equal(profile.snapshot().playout, 'fixed:60');
    writeFileSync(nameOf('091422'), `${HEADER}\n${linesOf(records.slice(0, 5))}not a line\n`);
    poll();
    profile.settle();
    assert.equal(profile.snapshot().commands, 5);
    assert.equal(poll(), 0);
    close();
  });

  it('reads only the end of a long file', () => {
    const long = nameOf('101422');
    writeFileSync(long, `${HEADER}\n${linesOf(runOf({ seconds: 20, wireMs: () => 3 }))}`);
    const { profile, poll, close } = followTrace(long, 500_000);
    poll();
    profile.settle();
    const { commands, playout } = profile.snapshot();
    assert.ok(commands > 500 && commands < 1500, `${commands}`);
    assert.equal(playout, 'fixed:60', 'still known from its first line');
    close();
  });

  it('serves snapshots to this machine only', async () => {
    const file = nameOf('111422');
    const records = runOf({ seconds: 20, wireMs: (tick) => (tick > 1500 && tick % 16 < 3 ? 44 : 3) });
    writeFileSync(file, `${HEADER}\n${linesOf(records)}`);
    appendFileSync(file, `${motionLine({ atNs: 20.9e9, latencyNs: 61.8e6, confidence: 0.99 })}\n`);
    const profiler = await startProfiler(file, 0);
    try {
      const url = `${profiler.url}api/profile`;
      const snapshot = (await (await fetch(url)).json()) as ProfileSnapshot;
      assert.equal(snapshot.kind, 'profile');
      assert.ok(snapshot.feel.badWindows > 1);
      assert.equal(snapshot.motionLatencyMs, 61.8);
      assert.ok(snapshot.seconds.some(({ isBad }) => isBad) && snapshot.seconds.some(({ off }) => off === 0));
      assert.equal(snapshot.histogram.counts.length, snapshot.histogram.edgesMs.length - 1);
      assert.equal((await fetch(url, { headers: { origin: 'http://evil.example' } })).status, 403);
      assert.equal((await fetch(`${profiler.url}other`)).status, 404);
      const origin = 'http://localhost:4747';
      assert.equal(
        (await fetch(url, { headers: { origin } })).headers.get('access-control-allow-origin'),
        origin,
      );
      const socket = new WebSocket(`${profiler.url.replace('http', 'ws')}live`, { origin });
      const text = await new Promise<string>((resolve, reject) => {
        socket.once('message', (data) => resolve(String(data)));
        socket.once('error', reject);
      });
      assert.equal((JSON.parse(text) as ProfileSnapshot).feel.badWindows, snapshot.feel.badWindows);
      socket.terminate();
    } finally {
      await profiler.close();
    }
  });

  it('draws frames that fit any terminal', () => {
    const profile = new LiveProfile();
    const empty = topFrame(profile.snapshot(), { columns: 80, rows: 24, colour: false, idleS: 0 });
    assert.ok(empty.some((line) => line.includes('not judged yet')));
    profile.begin('robot_trace_x.jsonl', 'none');
    for (const record of document002().slice(0, 8_000)) profile.add(record);
    profile.settle();
    for (const columns of [20, 40, 80, 200])
      for (const rows of [5, 24, 60]) {
        const lines = topFrame(profile.snapshot(), { columns, rows, colour: true, idleS: 9 });
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape that starts a colour
        const seen = lines.map((line) => line.replaceAll(/\x1b\[\d+m/g, ''));
        assert.ok(lines.length <= rows && seen.every((line) => [...line].length <= Math.max(40, columns)));
        assert.ok(seen[0]!.includes('no data for 9 s') || columns < 60);
      }
    const [, , , feel] = topFrame(profile.snapshot(), { columns: 120, rows: 60, colour: false, idleS: 0 });
    assert.match(feel!, /^feel: \d+ bad, \d+ strict of \d\d seconds/);
  });
});
