import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pluginConfig } from '../app/registry.ts';
import { loadJpegCoder } from '../camera/encoder.ts';
import { jpegEnd } from '../camera/jpeg-structure.ts';
import type { CameraSource, Picture, SourceHost, SourcePlugin } from '../camera/source.ts';
import { TeleopError } from '../core/errors.ts';
import { ManualClock } from '../core/time/clock.ts';
import { loadModel } from '../rig/robot-models.ts';

export const FORMAT = { widthPx: 160, heightPx: 120, fpsHz: 50, quality: 75 };
const coder = await loadJpegCoder();
const model = loadModel('ur3');

/** A host with a clock that moves only when told to; ticks are given by `tick`. */
export class CameraBench implements SourceHost {
  readonly clock = new ManualClock();
  readonly taken: { picture: Picture; captureNs: number }[] = [];
  readonly failures: TeleopError[] = [];
  readonly robot = {
    model,
    read: (joints: Float64Array) => {
      joints.set(model.homeRad);
      joints[0]! += this.clock.nowNs() / 1e9;
      return 0.5;
    },
  };
  #tick: ((nowNs: number) => void) | null = null;

  everyFrame(tick: (nowNs: number) => void): void {
    this.#tick = tick;
  }

  emit(picture: Picture, captureNs: number): void {
    this.taken.push({ picture: copyOf(picture), captureNs });
    // What it drew in is the source's again; a source that relies on what it left there is wrong.
    if (picture.kind === 'rgb') picture.pixels.fill(0x5a);
    if (picture.kind === 'depth') picture.depthMm.fill(0x5a5a);
  }

  fail(error: TeleopError): void {
    this.failures.push(error);
  }

  /** Until so many pictures have come; those that pace themselves need real time. */
  async until(count: number, withinMs = 20_000): Promise<void> {
    for (let waited = 0; this.taken.length < count && waited < withinMs; waited += 5) {
      this.clock.advanceBy(1e9 / FORMAT.fpsHz);
      this.#tick?.(this.clock.nowNs());
      await sleep(this.#tick === null ? 5 : 1);
    }
  }
}

function copyOf(picture: Picture): Picture {
  if (picture.kind === 'rgb') return { ...picture, pixels: picture.pixels.slice() };
  return picture.kind === 'depth' ? { ...picture, depthMm: picture.depthMm.slice() } : picture;
}

function valuesOf(picture: Picture): ArrayLike<number> & Iterable<number> {
  if (picture.kind === 'depth') return picture.depthMm;
  return picture.kind === 'rgb' ? picture.pixels : coder.decode(picture.bytes)!.pixels;
}

/**
 * Registers the tests that every camera source passes, with `node:test`. `options`: settings under which it gives pictures
 * of 160 × 120 here, asked for when the tests run.
 */
export function testCamera(
  name: string,
  plugin: SourcePlugin<unknown>,
  options: () => Record<string, unknown> = () => ({}),
): void {
  describe(`camera ${name}`, () => {
    describeItself(name, plugin);
    describePictures(name, plugin, options);
  });
}

function describeItself(name: string, plugin: SourcePlugin<unknown>): void {
  it('describes itself, and rejects unknown settings', () => {
    assert.match(plugin.about, /\w{3}/);
    assert.throws(() => pluginConfig('camera', name, plugin, { noSuchSetting: 1 }), TeleopError);
  });
}

function describePictures(
  name: string,
  plugin: SourcePlugin<unknown>,
  options: () => Record<string, unknown>,
): void {
  const open = (bench: CameraBench): Promise<CameraSource> =>
    plugin.open(pluginConfig('camera', name, plugin, options()), FORMAT, bench);

  it('gives pictures that can be read, with the instants they were taken at', async () => {
    const bench = new CameraBench();
    const source = await open(bench);
    try {
      await bench.until(4);
      assert.deepEqual(bench.failures, []);
      assert.ok(bench.taken.length >= 4, `${bench.taken.length} pictures`);
      let last = 0;
      for (const { picture, captureNs } of bench.taken) {
        assert.ok(captureNs >= last && captureNs <= bench.clock.nowNs(), 'no picture is taken in the future');
        last = captureNs;
        if (picture.kind === 'jpeg') assert.equal(jpegEnd(picture.bytes), 'whole');
        const { widthPx, heightPx } = picture.kind === 'jpeg' ? coder.decode(picture.bytes)! : picture;
        const values = valuesOf(picture);
        const channels = picture.kind === 'depth' ? 1 : 3;
        assert.deepEqual([widthPx, heightPx, values.length], [160, 120, channels * 160 * 120]);
        // Without a world there are no distances.
        if (picture.kind !== 'depth') assert.ok(new Set(values).size > 1, 'a picture of something');
      }
      const [first, second] = bench.taken.map(({ picture }) => valuesOf(picture));
      if (bench.taken[0]!.picture.kind !== 'depth') assert.notDeepEqual(first, second, 'something moves');
    } finally {
      source.dispose();
    }
  });

  it('gives none after it was disposed of, any number of times', async () => {
    const bench = new CameraBench();
    const source = await open(bench);
    await bench.until(1);
    source.dispose();
    source.dispose();
    const before = bench.taken.length;
    await bench.until(before + 1, 60);
    assert.equal(bench.taken.length, before);
    assert.deepEqual(bench.failures, [], 'being disposed of is no failure');
  });

  it('can be opened again, and twice at once', async () => {
    const benches = [new CameraBench(), new CameraBench()];
    const sources = await Promise.all(benches.map(open));
    await Promise.all(benches.map((bench) => bench.until(1)));
    for (const source of sources) source.dispose();
    assert.ok(benches.every((bench) => bench.taken.length > 0));
  });
}
