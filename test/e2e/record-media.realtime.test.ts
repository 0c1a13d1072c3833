import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFrameSender } from '../../src/camera/channel/sender.ts';
import { depthPng } from '../../src/camera/depth.ts';
import { emptyPicture, fillRect } from '../../src/camera/drawing.ts';
import { loadJpegCoder } from '../../src/camera/encoder.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { openTelemetryFeed } from '../../src/desk/telemetry-feed.ts';
import { exportCsv } from '../../src/record/export/export-csv.ts';
import { captures, frames, readEpisode, readFrame, readInfo, readJson } from '../../src/record/reader.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand, type Running, startFarhand } from './farhand.ts';

const running: Running[] = [];
const folder = temporaryFolder('record-media');
afterEach(async () => {
  await Promise.all(running.splice(0).map((child) => child.end()));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const SIZE = { widthPx: 160, heightPx: 120 };
const LEVELS = 16;
const coder = await loadJpegCoder();
/** Grey pictures, each of its own brightness: a decoded one shows which it was. */
const pictures = Array.from({ length: LEVELS }, (_, level) => {
  const picture = emptyPicture(SIZE.widthPx, SIZE.heightPx);
  const tone = 20 + 14 * level;
  fillRect(picture, 0, 0, SIZE.widthPx, SIZE.heightPx, [tone, tone, tone]);
  return coder.encode(picture, 90);
});
/** Which of them a camera shows at an instant, recomputed from the capture time alone. */
const levelAt = (captureNs: number): number => Math.floor(captureNs / 33e6) % LEVELS;
const levelOf = (jpeg: Uint8Array): number => {
  const { pixels } = coder.decode(jpeg)!;
  return Math.round((pixels.reduce((sum, value) => sum + value, 0) / pixels.length - 20) / 14);
};
const depthMm = Uint16Array.from({ length: SIZE.widthPx * SIZE.heightPx }, (_, i) => (i * 37) % 65_536);
const depth = depthPng({ ...SIZE, depthMm });

async function startCameras(port: number): Promise<{ close(): Promise<void> }> {
  const curve = null;
  const where = { wire: 'zmq' as const, host: '127.0.0.1', port, cameras: ['front', 'wrist'] };
  const sender = await openFrameSender(
    { ...where, variant: { order: 'little', first: 0 }, sendTo: [], curve },
    () => {},
  );
  const timer = setInterval(() => {
    const captureNs = monotonicClock.nowNs();
    const shown = { captureNs, encoding: 'jpeg' as const, bytes: pictures[levelAt(captureNs)]! };
    sender.send({ camera: 'front', ...shown });
    sender.send({ camera: 'wrist', ...shown, depth });
  }, 33);
  return {
    async close() {
      clearInterval(timer);
      await sender.close();
    },
  };
}

async function rigIn(dir: string): Promise<{ rig: string[]; port: number }> {
  const [command, state, sync, desk, telemetry, port] = await freeUdpPorts(6);
  const rig = [
    ...[`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`],
    ...[
      `console.deskPort=${desk}`,
      `console.telemetryPort=${telemetry}`,
      'link.security=plain',
      'trace.dir=',
    ],
    ...[`record.dir=${dir}`, 'record.minFreeMb=1', 'record.video=h264', 'record.sound=test'],
    ...[`cameras.port=${port}`, 'cameras.list.front={}', 'cameras.list.wrist={}'],
  ];
  return { rig, port: port! };
}

async function untilRows(rig: readonly string[], rows: number): Promise<void> {
  let seen = 0;
  const feed = openTelemetryFeed(loadRig('demo', rig).config, ({ record }) => {
    seen = record?.rows ?? 0;
  });
  for (let i = 0; i < 1000 && seen < rows; i++) await sleep(20);
  feed.close();
  assert.ok(seen >= rows, `${seen} rows`);
}

describe('a recording with video, distances and sound', { skip: needs('ffmpeg') }, () => {
  it('survives kill -9: every row has its pictures, decoded as they were sent', async () => {
    const dir = path.join(folder, 'killed');
    const { rig, port } = await rigIn(dir);
    const cameras = await startCameras(port);
    try {
      running.push(startFarhand(['robot', ...rig]));
      const operator = startFarhand(['operator', '--record', ...rig]);
      running.push(operator);
      await untilRows(rig, 200);
      const killedAtMs = Date.now();
      operator.process.kill('SIGKILL');
      await operator.exited;
      const [part] = readdirSync(dir).filter((name) => name.endsWith('.part'));
      const recovered = await farhand(['recover', path.join(dir, part ?? 'none')]);
      assert.ok(recovered.code === 0 || recovered.code === 3, recovered.stderr);
      const file = path.join(dir, part!.replace('.part', ''));
      await checkPictures(file);
      await checkDepth(file);
      const lastMs = Number((await readJson(file, 'row')).at(-1)!.timeNs / 1_000_000n);
      assert.ok(killedAtMs - lastMs < 700, `${killedAtMs - lastMs} ms lost`);
      await checkSound(file);
    } finally {
      await cameras.close();
    }
  });
});

async function checkPictures(file: string): Promise<void> {
  const { rows } = await readEpisode(file);
  assert.ok(rows.length > 150, `${rows.length} rows`);
  for (const camera of ['front', 'wrist']) {
    const held = await captures(file, camera);
    for (const row of rows) assert.ok(held.has(row.frames[camera]!.captureNs));
    let decoded = 0;
    for await (const { captureNs, bytes } of frames(file, camera)) {
      assert.equal(levelOf(bytes), levelAt(captureNs));
      decoded++;
    }
    assert.equal(decoded, held.size);
  }
  // One row at a time, as a page asks.
  for (const row of [rows[0]!, rows.at(-1)!, rows[70]!]) {
    const { captureNs } = row.frames['front']!;
    assert.equal(levelOf((await readFrame(file, 'front', captureNs))!), levelAt(captureNs));
  }
}

async function checkDepth(file: string): Promise<void> {
  const { rows } = await readEpisode(file);
  const held = new Set<number>();
  for await (const { captureNs, bytes } of frames(file, 'wrist', 'depth')) {
    assert.deepEqual(Buffer.from(bytes), Buffer.from(depth));
    held.add(captureNs);
  }
  for (const row of rows) assert.ok(held.has(row.frames['wrist']!.captureNs));
}

/** A tone of 440 Hz crosses zero 880 times a second. */
async function checkSound(file: string): Promise<void> {
  const out = path.join(folder, 'csv');
  const { soundS, file: csv } = await exportCsv(out, { file, info: await readInfo(file) }, true);
  const wav = readFileSync(csv.replace('.csv', '.wav'));
  const samples = new Int16Array(Uint8Array.from(wav.subarray(44)).buffer);
  assert.equal(samples.length / 16_000, soundS);
  const from = samples.findIndex((value) => value !== 0);
  const heard = samples.subarray(from, from + 8000);
  let crossings = 0;
  for (let i = 1; i < heard.length; i++) if (heard[i - 1]! < 0 !== heard[i]! < 0) crossings++;
  assert.ok(heard.length === 8000 && Math.abs(crossings - 440) < 20, `${crossings} in ${heard.length}`);
}
