import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openCameraSource } from '../../src/app/registry.ts';
import { camerasConfig } from '../../src/camera/config.ts';
import { emptyPicture } from '../../src/camera/drawing.ts';
import { loadJpegCoder } from '../../src/camera/encoder.ts';
import { type CameraEvent, CameraStation } from '../../src/camera/station.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import type { CameraFrame } from '../../src/messages/recording.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const coder = await loadJpegCoder();
const model = loadModel('ur3');
const folder = temporaryFolder('station');

function station(
  values: Record<string, unknown>,
  parts: Partial<ConstructorParameters<typeof CameraStation>[0]> = {},
) {
  const frames: CameraFrame[] = [];
  const events: CameraEvent[] = [];
  const made = new CameraStation({
    openSource: openCameraSource,
    name: 'front',
    config: camerasConfig.parse({ list: { front: values } }).list['front']!,
    clock: monotonicClock,
    robot: { model, read: () => Number.NaN },
    coder: () => coder,
    send: (frame) => frames.push(frame),
    onEvent: (item) => events.push(item),
    firstPauseMs: 20,
    ...parts,
  });
  return { made, frames, events };
}

async function until(done: () => boolean, withinMs = 20_000): Promise<void> {
  for (let waited = 0; !done() && waited < withinMs; waited += 10) await sleep(10);
}

describe('CameraStation', () => {
  it('sends pictures at its rate, and none after close', async () => {
    const { made, frames, events } = station({ fpsHz: 50, widthPx: 64, heightPx: 48 });
    await made.start();
    await sleep(600);
    made.close();
    const count = frames.length;
    assert.ok(count >= 15 && count <= 33, `${count} pictures in 0.6 s at 50 Hz`);
    await sleep(80);
    assert.equal(frames.length, count);
    assert.deepEqual(
      events.map((item) => item.kind),
      ['up'],
    );
    assert.deepEqual([made.report.frames, made.report.restarts], [count, 0]);
  });

  it('retries a source after increasing pauses, reports each failure, and recovers', async () => {
    const pictures = path.join(folder, 'late');
    const { made, frames, events } = station({
      source: 'image-sequence',
      options: { folder: pictures },
      fpsHz: 50,
    });
    await made.start();
    await until(() => events.length >= 4);
    assert.deepEqual(
      events.slice(0, 4).map((item) => [item.kind, item.retryMs]),
      [20, 40, 80, 160].map((ms) => ['trouble', ms]),
    );
    assert.ok(events.every((item) => item.hint.length > 10));
    mkdirSync(pictures);
    writeFileSync(path.join(pictures, 'a.jpg'), coder.encode(emptyPicture(64, 48), 75));
    await until(() => frames.length >= 3);
    assert.equal(events.at(-1)?.kind, 'up');
    // When it fails later, the pauses start over.
    rmSync(path.join(pictures, 'a.jpg'));
    const reported = events.length;
    await until(() => events.length > reported);
    assert.deepEqual([events[reported]?.kind, events[reported]?.retryMs], ['trouble', 20]);
    made.close();
    const last = events.length;
    await sleep(200);
    assert.equal(events.length, last, 'no retry after close');
  });

  it('treats a source that delivers nothing as failed', async () => {
    // One picture in ten seconds: the first comes immediately, the next is too late.
    const { made, events } = station({ fpsHz: 0.1, widthPx: 64, heightPx: 48 }, { silentMs: 150 });
    await made.start();
    await until(() => events.some((item) => item.kind === 'trouble'));
    made.close();
    assert.match(events.find((item) => item.kind === 'trouble')?.message ?? '', /no picture/);
  });

  it('survives an encoder that throws, and an unknown source', async () => {
    const throwing = station(
      { widthPx: 64, heightPx: 48 },
      {
        coder: () => {
          throw new Error('out of memory');
        },
      },
    );
    const unknown = station({ source: 'test-patern' });
    await Promise.all([throwing.made.start(), unknown.made.start()]);
    await until(() => throwing.events.length > 0 && unknown.events.length > 0);
    throwing.made.close();
    unknown.made.close();
    assert.match(throwing.events[0]!.message, /out of memory/);
    assert.match(unknown.events[0]!.hint, /test-pattern/);
  });
});
