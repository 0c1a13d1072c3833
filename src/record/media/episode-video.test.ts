import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../../test/temporary-folder.ts';
import { TeleopError } from '../../core/errors.ts';
import { ManualClock } from '../../core/time/clock.ts';
import type { EpisodeInfo, ReceivedFrame } from '../../messages/recording.ts';
import { emptyRow, RING_ROW } from '../../messages/ring-row.ts';
import { captures, readEpisode } from '../reader.ts';
import { EpisodeRecorder } from '../recorder.ts';
import { recoverEpisode } from '../recover.ts';
import { WALL_NS } from '../test-episode.ts';
import { trimEpisode } from '../trim.ts';
import type { OpenPictureEncoder } from './episode-video.ts';

const root = temporaryFolder('episode-video');

/** Length-prefixed units: a key picture every fourth. */
const unit = (isKey: boolean): Uint8Array => Uint8Array.of(0, 0, 0, 3, isKey ? 0x65 : 0x41, 7, 7);

/** An encoder that answers when told to. */
function slowEncoder() {
  const inside: number[] = [];
  let busy = false;
  let count = 0;
  let handlers: Parameters<OpenPictureEncoder>[1] | null = null;
  const open: OpenPictureEncoder = (_camera, given) => {
    handlers = given;
    return {
      encode: (_jpegs, captureNs) => {
        if (!busy) inside.push(captureNs);
        return !busy;
      },
      close: () => {
        handlers = null;
      },
    };
  };
  return {
    open,
    inside,
    isOpen: () => handlers !== null,
    setBusy: (value: boolean) => {
      busy = value;
    },
    answer: () => handlers?.encoded({ captureNs: inside.shift()!, bytes: unit(count++ % 4 === 0) }),
    fail: () => handlers?.failed(new TeleopError('camera-failed', 'ffmpeg stopped', { hint: 'Try again.' })),
  };
}

function bench(name: string) {
  const clock = new ManualClock(5e9);
  const encoder = slowEncoder();
  const saved: { info: EpisodeInfo; file: string }[] = [];
  let dropped = 0;
  let seq = 0;
  const recorder = new EpisodeRecorder({
    ...{ dir: path.join(root, name), task: '', startsAtEngagement: false, robot: 'test' },
    ...{ joints: ['a', 'b'], hasGripper: true, cameras: ['front'], rateHz: 100, rig: {}, version: '0.0.0' },
    ...{ owner: { pid: 1, host: 'here' }, join: { staleNs: 150e6, missingNs: 1000e6 }, limits: {} },
    ...{ minFreeBytes: 0, clock, wallNs: () => WALL_NS + BigInt(clock.nowNs()), newestAt: () => null },
    openEncoder: encoder.open,
    onDropped: () => dropped++,
    onSkipped: () => {},
    onSaved: (info, file) => saved.push({ info, file }),
  });
  const frame = () => {
    const at = clock.nowNs();
    const times = { captureNs: at, captureOperatorNs: at, uncertaintyNs: 0, arrivedNs: at };
    const received: ReceivedFrame = {
      ...{ camera: 'front', encoding: 'jpeg', bytes: Uint8Array.of(1) },
      ...times,
    };
    recorder.frame(received);
    return at;
  };
  const row = () => {
    clock.advanceBy(10e6);
    const ring = { ...RING_ROW.plain(emptyRow(2)), seq: ++seq, sampledNs: clock.nowNs() };
    recorder.row(ring);
    recorder.tick();
  };
  recorder.request({ kind: 'record', action: 'start' });
  return { clock, encoder, recorder, saved, frame, row, dropped: () => dropped };
}

describe('an episode with video', () => {
  it('writes a row only after its picture, and keeps the picture that had arrived', async () => {
    const { encoder, recorder, saved, frame, row } = bench('order');
    const first = frame();
    row();
    assert.equal(recorder.status.rows, 0);
    const second = frame();
    row();
    encoder.answer();
    assert.equal(recorder.status.rows, 1);
    encoder.answer();
    assert.equal(recorder.status.rows, 2);
    recorder.request({ kind: 'record', action: 'stop' });
    const { info, rows } = await readEpisode(saved[0]!.file);
    assert.equal(info.video, 'h264');
    assert.deepEqual(
      rows.map(({ frames }) => frames['front']!.captureNs),
      [first, second],
    );
    assert.deepEqual([...(await captures(saved[0]!.file, 'front'))], [first, second]);
    assert.equal(encoder.isOpen(), false);
  });

  it('never refers to a picture that the encoder did not take, and counts it', async () => {
    const { encoder, recorder, saved, frame, row, dropped } = bench('busy');
    const first = frame();
    encoder.answer();
    encoder.setBusy(true);
    row();
    frame();
    row();
    recorder.request({ kind: 'record', action: 'stop' });
    const { rows } = await readEpisode(saved[0]!.file);
    assert.deepEqual(
      rows.map(({ frames }) => frames['front']!.captureNs),
      [first, first],
    );
    assert.equal(dropped(), 1);
  });

  it('leaves out the last rows whose pictures are still being encoded', async () => {
    const { encoder, recorder, saved, frame, row } = bench('end');
    frame();
    encoder.answer();
    for (let i = 0; i < 5; i++) row();
    frame();
    for (let i = 0; i < 3; i++) row();
    recorder.request({ kind: 'record', action: 'stop' });
    const { info, rows } = await readEpisode(saved[0]!.file);
    assert.deepEqual([info.rows, rows.length], [5, 5]);
    assert.deepEqual(
      rows.map(({ index }) => index),
      [0, 1, 2, 3, 4],
    );
  });

  it('is saved when its encoder fails, with the remedy', () => {
    const { encoder, recorder, saved, frame, row } = bench('failed');
    frame();
    encoder.answer();
    row();
    frame();
    row();
    encoder.fail();
    assert.equal(recorder.status.state, 'failed');
    assert.match(recorder.status.message, /Recording stopped: ffmpeg stopped\. Try again\..*is saved/);
    assert.equal(saved[0]!.info.rows, 1);
  });

  it('does not offer pictures that cannot be decoded because one before them is missing', async () => {
    const { encoder, recorder, saved, frame, row, clock } = bench('chain');
    const shown: number[] = [];
    for (let i = 0; i < 12; i++) {
      shown.push(frame());
      encoder.answer();
      row();
      clock.advanceBy(200e6);
      recorder.tick();
    }
    recorder.request({ kind: 'record', action: 'stop' });
    const { file } = saved[0]!;
    assert.deepEqual([...(await captures(file, 'front'))], shown);
    // The sixth picture is lost with its chunk: the next key picture is the ninth.
    const damaged = withoutPicture(file, shown[5]!);
    assert.deepEqual(
      [...(await captures(damaged, 'front'))],
      shown.filter((_, i) => i < 5 || i >= 8),
    );
  });

  it('begins with a key picture after it was trimmed', async () => {
    const { encoder, recorder, saved, frame, row, clock } = bench('trimmed');
    const shown: number[] = [];
    for (let i = 0; i < 12; i++) {
      shown.push(frame());
      encoder.answer();
      row();
      clock.advanceBy(200e6);
      recorder.tick();
    }
    recorder.request({ kind: 'record', action: 'stop' });
    const { file } = saved[0]!;
    const into = file.replace('.mcap', '-part.mcap');
    const { rows } = await readEpisode(file);
    trimEpisode(file, rows[6]!.timeNs / 1e9, rows[9]!.timeNs / 1e9, into, '0.0.0');
    // Every fourth is a key picture: the seventh needs the fifth and sixth.
    assert.deepEqual([...(await captures(into, 'front'))], shown.slice(4, 10));
    assert.deepEqual(
      (await readEpisode(into)).rows.map(({ frames }) => frames['front']!.captureNs),
      shown.slice(6, 10),
    );
  });
});

/** A copy in which the chunk with this picture is damaged, as `recover` leaves it. */
function withoutPicture(file: string, captureNs: number): string {
  const bytes = readFileSync(file);
  bytes[bytes.indexOf(`front:${captureNs}`)]! ^= 1;
  writeFileSync(`${file}.damaged`, bytes);
  const into = file.replace('.mcap', '-repaired.mcap');
  recoverEpisode(`${file}.damaged`, into, '0.0.0');
  return into;
}
