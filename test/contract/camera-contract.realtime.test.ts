import assert from 'node:assert/strict';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadPlugin, pluginConfig, pluginNames } from '../../src/app/registry.ts';
import { emptyPicture, fillRect } from '../../src/camera/drawing.ts';
import { loadJpegCoder } from '../../src/camera/encoder.ts';
import { jpegEnd } from '../../src/camera/jpeg-structure.ts';
import type { CameraSource, Picture, SourceHost, SourcePlugin } from '../../src/camera/source.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { ManualClock } from '../../src/core/time/clock.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const FORMAT = { widthPx: 160, heightPx: 120, fpsHz: 50, quality: 75 };
const coder = await loadJpegCoder();
const model = loadModel('ur3');
const folder = temporaryFolder('camera');
const pictures = [20, 90, 200].map((tone) => {
  const picture = emptyPicture(FORMAT.widthPx, FORMAT.heightPx);
  fillRect(picture, 0, 0, FORMAT.widthPx, FORMAT.heightPx, [tone, 128, 255 - tone]);
  return coder.encode(picture, FORMAT.quality);
});

/** A byte-level stand-in for ffmpeg: pictures on stdout, cut in the middle, until it is killed. */
const FFMPEG = `#!${process.execPath}
if (!process.argv.includes('-f') || process.argv.at(-1) !== 'pipe:1') process.exit(2);
const { readFileSync } = require('node:fs');
const bytes = readFileSync(__dirname + '/stream.mjpeg');
let at = 0;
setInterval(() => {
  const to = Math.min(bytes.length, at + 700);
  process.stdout.write(bytes.subarray(at, to));
  at = to === bytes.length ? 0 : to;
}, 2);
`;

/** The real ffmpeg with our arguments, but for the device: a scene of its own takes its place, as MJPEG where that is asked. */
const SCENE = `#!${process.execPath}
const { spawn } = require('node:child_process');
const given = process.argv.slice(2);
const after = (name) => given[given.indexOf(name) + 1];
const scene = ['-f', 'lavfi', '-i', 'testsrc2=size=' + after('-video_size') + ':rate=' + after('-framerate')];
const isMjpeg = given.includes('-input_format');
const [from, to] = [given.indexOf('-f'), given.indexOf('-i') + 2];
const input = isMjpeg ? ['-f', 'mjpeg', '-i', 'pipe:0'] : ['-re', ...scene];
const reader = spawn('ffmpeg', [...given.slice(0, from), ...input, ...given.slice(to)], { stdio: ['pipe', 'inherit', 'inherit'] });
reader.on('close', (code) => process.exit(code ?? 1));
if (isMjpeg) spawn('ffmpeg', ['-loglevel', 'error', '-re', ...scene, '-c:v', 'mjpeg', '-f', 'mjpeg', 'pipe:1'], { stdio: ['ignore', reader.stdin, 'inherit'] });
`;

let server: Server;
before(async () => {
  for (const [i, jpeg] of pictures.entries()) writeFileSync(path.join(folder, `${i}.jpg`), jpeg);
  writeFileSync(path.join(folder, 'stream.mjpeg'), Buffer.concat(pictures));
  writeFileSync(path.join(folder, 'ffmpeg.cjs'), FFMPEG);
  chmodSync(path.join(folder, 'ffmpeg.cjs'), 0o755);
  writeFileSync(path.join(folder, 'not-a-picture.txt'), 'hello');
  server = createServer((request, response) => {
    if (request.url !== '/stream') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=x' });
    let next = 0;
    const timer = setInterval(() => {
      const jpeg = pictures[next++ % pictures.length]!;
      response.write(`--x\r\nContent-Type: image/jpeg\r\nContent-Length: ${jpeg.length}\r\n\r\n`);
      response.write(jpeg.subarray(0, 300));
      response.write(jpeg.subarray(300));
    }, 5);
    response.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const url = (page: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${page}`;
const ffmpeg = () => path.join(folder, 'ffmpeg.cjs');

/** Settings under which a source can be opened here, where its defaults are not enough; several ways to use one. */
const OPTIONS: Record<string, () => Record<string, unknown>[]> = {
  'image-sequence': () => [{ folder }],
  mjpeg: () => [{ from: url('/stream') }, { from: path.join(folder, 'stream.mjpeg') }],
  sim: () => [{}, { mount: 'wrist' }],
  world: () => [{}, { depth: true }],
  v4l2: () => [{ device: '/dev/null', ffmpeg: ffmpeg() }],
};
/** Settings that name something that is not there. */
const MISSING: Record<string, () => Record<string, unknown>[]> = {
  'image-sequence': () => [{}, { folder: path.join(folder, 'nowhere') }, { folder: tmpdir() }],
  mjpeg: () => [
    {},
    { from: url('/nothing') },
    { from: 'http://127.0.0.1:9/' },
    { from: `${folder}/not-a-picture.txt` },
  ],
  v4l2: () => [{ device: '/dev/no-such-camera' }, { device: '/dev/null', ffmpeg: 'no-such-ffmpeg' }],
};
/** Sources that cannot be opened here, each with the reason. */
const SKIP: Record<string, string> = {};

/** A host with a clock that moves only when told to; ticks are given by `tick`. */
class Bench implements SourceHost {
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

function describeSource(name: string, plugin: SourcePlugin<unknown>, index: number): void {
  const options = () => OPTIONS[name]?.()[index] ?? {};
  const open = (bench: Bench): Promise<CameraSource> =>
    plugin.open(pluginConfig('camera', name, plugin, options()), FORMAT, bench);

  it('gives pictures that can be read, with the instants they were taken at', async () => {
    const bench = new Bench();
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
    const bench = new Bench();
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
    const benches = [new Bench(), new Bench()];
    const sources = await Promise.all(benches.map(open));
    await Promise.all(benches.map((bench) => bench.until(1)));
    for (const source of sources) source.dispose();
    assert.ok(benches.every((bench) => bench.taken.length > 0));
  });
}

describe('every camera source', () => {
  for (const name of pluginNames('camera')) {
    const ways = OPTIONS[name] === undefined ? 1 : ({ mjpeg: 2, sim: 2, world: 2 }[name as string] ?? 1);
    for (let i = 0; i < ways; i++)
      describe(`${name}, way ${i + 1}`, { skip: SKIP[name] ?? false }, async () => {
        describeSource(name, await loadPlugin('camera', name), i);
      });

    it(`${name} tells what it is, and takes no unknown setting`, async () => {
      const plugin = await loadPlugin('camera', name);
      assert.match(plugin.about, /\w{3}/);
      assert.throws(() => pluginConfig('camera', name, plugin, { noSuchSetting: 1 }), TeleopError);
    });

    it(`${name} says what to do when the camera is not there`, async () => {
      const plugin = await loadPlugin('camera', name);
      for (const values of MISSING[name]?.() ?? []) {
        const bench = new Bench();
        await assert.rejects(
          () => plugin.open(pluginConfig('camera', name, plugin, values), FORMAT, bench),
          (error) => error instanceof TeleopError && error.code === 'camera-failed' && error.hint.length > 20,
          JSON.stringify(values),
        );
        assert.equal(bench.taken.length, 0);
      }
    });
  }

  it('v4l2 reports an ffmpeg that ends, in its own words', async () => {
    const plugin = await loadPlugin('camera', 'v4l2');
    const script = path.join(folder, 'dying.cjs');
    writeFileSync(
      script,
      `#!${process.execPath}\nconsole.error('/dev/null: Inappropriate ioctl for device');process.exit(1);`,
    );
    chmodSync(script, 0o755);
    const bench = new Bench();
    const source = await plugin.open({ device: '/dev/null', gives: 'mjpeg', ffmpeg: script }, FORMAT, bench);
    for (let i = 0; i < 200 && bench.failures.length === 0; i++) await sleep(10);
    source.dispose();
    assert.match(bench.failures[0]?.message ?? '', /Inappropriate ioctl/);
  });

  for (const gives of ['mjpeg', 'raw'])
    it(`v4l2 reads the real ffmpeg, ${gives}`, {
      skip: needs('ffmpeg'),
    }, async () => {
      const plugin = await loadPlugin('camera', 'v4l2');
      const script = path.join(folder, `scene-${gives}.cjs`);
      writeFileSync(script, SCENE);
      chmodSync(script, 0o755);
      const bench = new Bench();
      const settings = { device: '/dev/null', gives, ffmpeg: script };
      const source = await plugin.open(pluginConfig('camera', 'v4l2', plugin, settings), FORMAT, bench);
      await bench.until(5, 10_000);
      source.dispose();
      assert.deepEqual(bench.failures, []);
      assert.ok(bench.taken.length >= 5, `${bench.taken.length} pictures`);
      for (const { picture } of bench.taken) {
        assert.ok(picture.kind === 'jpeg' && jpegEnd(picture.bytes) === 'whole');
        const { widthPx, heightPx } = coder.decode(picture.bytes)!;
        assert.deepEqual([widthPx, heightPx], [FORMAT.widthPx, FORMAT.heightPx]);
      }
    });

  it('mjpeg reports a stream that breaks off', async () => {
    const plugin = await loadPlugin('camera', 'mjpeg');
    const bench = new Bench();
    const source = await plugin.open({ from: url('/stream') }, FORMAT, bench);
    await bench.until(2);
    server.closeAllConnections();
    for (let i = 0; i < 100 && bench.failures.length === 0; i++) await sleep(10);
    source.dispose();
    assert.equal(bench.failures.length, 1);
    assert.match(bench.failures[0]!.message, /ended|hang up|reset|aborted/);
  });
});
