import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFrameSender } from '../../src/camera/channel/sender.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { askRecorder } from '../../src/desk/ask-recorder.ts';
import { openTelemetryFeed } from '../../src/desk/telemetry-feed.ts';
import type { EpisodeInfo } from '../../src/messages/recording.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { frames, readEpisode, readJson } from '../../src/record/reader.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand, type Running, root, stampsIn, startFarhand } from './farhand.ts';

const running: Running[] = [];
const folders: string[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((child) => child.end()));
});
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
const start = (...args: string[]): Running => {
  const child = startFarhand(args);
  running.push(child);
  return child;
};
const newFolder = (): string => {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
};

/** Settings of a separate plain rig on this machine, with its recordings in `dir`. */
async function settings(dir: string): Promise<string[]> {
  const [command, state, sync, desk, telemetry] = await freeUdpPorts(5);
  return [
    `link.commandPort=${command}`,
    `link.statePort=${state}`,
    `link.syncPort=${sync}`,
    `console.deskPort=${desk}`,
    `console.telemetryPort=${telemetry}`,
    'link.security=plain',
    'trace.dir=',
    `record.dir=${dir}`,
    'record.minFreeMb=1',
  ];
}

/** Telemetry of the operator, once it satisfies a condition. */
async function telemetryWhen(
  rig: readonly string[],
  isReady: (reported: Telemetry) => boolean,
): Promise<{ newest: () => Telemetry; close: () => void }> {
  let seen: Telemetry | null = null;
  const feed = openTelemetryFeed(loadRig('demo', rig).config, (reported) => {
    seen = reported;
  });
  for (let i = 0; i < 1000 && (seen === null || !isReady(seen)); i++) await sleep(20);
  assert.ok(seen !== null && isReady(seen), `telemetry never met the condition: ${JSON.stringify(seen)}`);
  return { newest: () => seen!, close: () => feed.close() };
}

async function untilRows(rig: readonly string[], rows: number): Promise<void> {
  (await telemetryWhen(rig, ({ record }) => (record?.rows ?? 0) >= rows)).close();
}

const partOf = (dir: string): string => {
  const [name] = readdirSync(dir).filter((file) => file.endsWith('.part'));
  return path.join(dir, name ?? 'no unfinished recording');
};

/** How much of the end is missing. `rowTimes` are wall-clock times, as every MCAP reader sees them. */
async function lostMs(file: string, killedAtMs: number): Promise<number> {
  const { rows } = await readEpisode(file);
  const rowTimes = await readJson(file, 'row');
  assert.equal(rowTimes.length, rows.length);
  assert.ok(rows.length > 100, `${rows.length} rows`);
  return killedAtMs - Number(rowTimes.at(-1)!.timeNs / 1_000_000n);
}

describe('farhand record', () => {
  it('starts, stops, labels, discards and lists episodes of a running operator', async () => {
    const dir = newFolder();
    const rig = await settings(dir);
    start('robot', ...rig);
    const operator = start('operator', ...rig);
    await operator.waitFor(/operator ready/);
    const record = (...words: string[]) => farhand(['record', ...words, ...rig]);
    const begun = await record('start', '--task', 'stack two cups');
    assert.equal(begun.code, 0, begun.stderr);
    assert.match(begun.stdout, /recorder recording, episode \d{8}-\d{6}-\d{3}: .*task "stack two cups"/);
    const { config } = loadRig('demo', rig);
    const asked = (action: 'start' | 'discard') => askRecorder(config, { kind: 'record', action }, 5000);
    await assert.rejects(() => asked('start'), {
      code: 'not-confirmed',
      message: /is already being recorded/,
    });
    const ended = await record('stop', '--label', 'success');
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(
      ended.stdout,
      /recorder reset[\s\S]*labelled success[\s\S]*one-way p95 [\d.]+ ms, bad windows 0/,
    );
    await operator.waitFor(/episode \d{8}-\d{6}-\d{3} \("stack two cups", labelled success\)/);
    assert.equal((await asked('start')).state, 'recording');
    assert.equal((await asked('discard')).state, 'reset');
    await assert.rejects(() => asked('discard'), { message: /nothing is being recorded/ });
    const [id] = readdirSync(dir).map((name) => name.replace('.mcap', ''));
    assert.deepEqual(readdirSync(dir), [`${id}.mcap`]);
    assert.equal((await record('label', id!, 'failure')).code, 0);
    const listed = JSON.parse((await record('list', '--json')).stdout) as EpisodeInfo[];
    assert.deepEqual(
      listed.map(({ label, task, complete }) => [label, task, complete]),
      [['failure', 'stack two cups', true]],
    );
    const { rows } = await readEpisode(path.join(dir, `${id}.mcap`));
    assert.deepEqual(
      rows.map(({ seq }) => seq),
      rows.map((_, i) => rows[0]!.seq + i),
    );
    assert.ok(rows.at(-1)!.oneWayNs! > 0 && rows.at(-1)!.uncertaintyNs! > 0);
  });
});

describe('a full disk', {
  skip: needs('private mounts'),
}, () => {
  it('ends the recording with a message while control continues', async () => {
    const dir = newFolder();
    const rig = [...(await settings(dir)), 'record.minFreeMb=0'];
    start('robot', ...rig);
    const bin = path.join(root, 'bin', 'farhand');
    const script = 'mount -t tmpfs -o size=120k none "$0" && exec "$@"';
    const command = [dir, process.execPath, bin, 'operator', '--record', ...rig];
    const operator = spawn('unshare', ['-rm', 'sh', '-c', script, ...command], { stdio: 'ignore' });
    try {
      const reported = await telemetryWhen(rig, ({ record }) => record?.state === 'failed');
      const { record, totals } = reported.newest();
      assert.match(
        record!.message,
        /Cannot continue recording in .*: the disk is full\. Free some disk space/,
      );
      assert.ok(record!.rows > 20, `${record!.rows} rows`);
      await sleep(500);
      const later = reported.newest();
      reported.close();
      assert.equal(later.robot?.state, 'engaged');
      assert.ok(later.totals.applied >= totals.applied + 20, `${later.totals.applied}`);
    } finally {
      operator.kill('SIGTERM');
    }
  });
});

describe('a killed operator', () => {
  it('loses less than half a second of numbers, and the next operator recovers the file', async () => {
    const dir = newFolder();
    const rig = await settings(dir);
    start('robot', ...rig);
    const operator = start('operator', '--record', ...rig);
    await untilRows(rig, 150);
    const killedAtMs = Date.now();
    operator.process.kill('SIGKILL');
    await operator.exited;
    const part = partOf(dir);
    const next = start('operator', ...rig);
    await next.waitFor(/operator ready/);
    for (let i = 0; i < 100 && readdirSync(dir).some((name) => name.endsWith('.part')); i++) await sleep(50);
    assert.match(next.stderr(), /recovered to .*: \d+ rows over/);
    const lost = await lostMs(part.replace('.part', ''), killedAtMs);
    assert.ok(lost < 500, `${lost} ms lost`);
    console.log(`lost ${lost.toFixed(0)} ms of numbers`);
  });

  it('loses less than half a second with two cameras, and no row without its pictures', async () => {
    const dir = newFolder();
    const rig = await settings(dir);
    const port = (await freeUdpPorts(1))[0]!;
    const cameras = [`cameras.port=${port}`, 'cameras.list.front={}', 'cameras.list.wrist={}'];
    const sender = await openFrameSender(
      {
        wire: 'zmq',
        host: '127.0.0.1',
        port,
        cameras: ['front', 'wrist'],
        variant: { order: 'little', first: 0 },
        sendTo: [],
        curve: null,
      },
      () => {},
    );
    const bytes = new Uint8Array(50_000).fill(7);
    bytes.set([0xff, 0xd8]);
    bytes.set([0xff, 0xd9], bytes.length - 2);
    const timer = setInterval(() => {
      for (const camera of ['front', 'wrist']) {
        const captureNs = monotonicClock.nowNs();
        sender.send({ camera, captureNs, encodedNs: captureNs + 1e5, encoding: 'jpeg', bytes });
      }
    }, 33);
    try {
      start('robot', ...rig);
      const traces = newFolder();
      const operator = start('operator', '--record', ...rig, ...cameras, `trace.dir=${traces}`);
      await untilRows(rig, 150);
      const killedAtMs = Date.now();
      operator.process.kill('SIGKILL');
      await operator.exited;
      const [picture] = stampsIn(traces).filter((stamps) => 'camera.captured' in stamps);
      assert.ok(
        picture !== undefined,
        'the trace contains pictures, with the stamps that the recorder knows',
      );
      assert.equal(picture['camera.encoded']! - picture['camera.captured']!, 1e5);
      assert.ok(picture['video.received']! > picture['camera.encoded']! && !('video.decoded' in picture));
      const part = partOf(dir);
      const recovered = await farhand(['recover', part]);
      assert.ok(recovered.code === 0 || recovered.code === 3, recovered.stderr);
      const file = part.replace('.part', '');
      const { rows } = await readEpisode(file);
      const seen = new Map<string, Set<number>>();
      for (const camera of ['front', 'wrist']) {
        seen.set(camera, new Set());
        for await (const { captureNs } of frames(file, camera)) seen.get(camera)!.add(captureNs);
      }
      for (const row of rows)
        for (const [camera, captures] of seen) {
          assert.ok(captures.has(row.frames[camera]!.captureNs));
          assert.ok(row.frames[camera]!.ageNs > -5e6, `age ${row.frames[camera]!.ageNs}`);
        }
      const lost = await lostMs(file, killedAtMs);
      assert.ok(lost < 500, `${lost} ms lost`);
      console.log(`lost ${lost.toFixed(0)} ms with cameras`);
    } finally {
      clearInterval(timer);
      await sender.close();
    }
  });
});
