import assert from 'node:assert/strict';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadPlugin, ownPluginNames, pluginConfig } from '../../src/app/registry.ts';
import { emptyPicture, fillRect } from '../../src/camera/drawing.ts';
import { loadJpegCoder } from '../../src/camera/encoder.ts';
import { jpegEnd } from '../../src/camera/jpeg-structure.ts';
import type { SourcePlugin } from '../../src/camera/source.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { CameraBench, FORMAT, testCamera } from '../../src/testing/camera-contract.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const coder = await loadJpegCoder();
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
const plugins = new Map<string, SourcePlugin<unknown>>();
for (const name of ownPluginNames('camera')) plugins.set(name, await loadPlugin('camera', name));

describe('every camera source', () => {
  for (const name of ownPluginNames('camera')) {
    const ways = OPTIONS[name] === undefined ? 1 : ({ mjpeg: 2, sim: 2, world: 2 }[name as string] ?? 1);
    for (let i = 0; i < ways; i++)
      testCamera(`${name}, way ${i + 1}`, plugins.get(name)!, () => OPTIONS[name]?.()[i] ?? {});

    it(`${name} says what to do when the camera is not there`, async () => {
      const plugin = await loadPlugin('camera', name);
      for (const values of MISSING[name]?.() ?? []) {
        const bench = new CameraBench();
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
    const bench = new CameraBench();
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
      const bench = new CameraBench();
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
    const bench = new CameraBench();
    const source = await plugin.open({ from: url('/stream') }, FORMAT, bench);
    await bench.until(2);
    server.closeAllConnections();
    for (let i = 0; i < 100 && bench.failures.length === 0; i++) await sleep(10);
    source.dispose();
    assert.equal(bench.failures.length, 1);
    assert.match(bench.failures[0]!.message, /ended|hang up|reset|aborted/);
  });
});
