import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readStrip, stripValue } from '../../src/camera/bit-strip.ts';
import { loadJpegCoder } from '../../src/camera/encoder.ts';
import { openFrameReceiver, sameClock } from '../../src/camera/receiver.ts';
import type { ReceivedFrame } from '../../src/messages/recording.ts';
import { frameReceiverConfig } from '../../src/rig/camera-channel.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand, startFarhand } from './farhand.ts';

const folder = temporaryFolder('cameras');

const CAMERAS = [
  'cameras.list.front.source=sim',
  'cameras.list.front.options.strip=true',
  'cameras.list.pattern.source=test-pattern',
];

async function ports(): Promise<string[]> {
  const [command, state, sync] = await freeUdpPorts(3);
  const camera = (await freeUdpPorts(1))[0]!;
  return [
    ...[`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`],
    ...[`cameras.port=${camera}`, 'link.security=plain'],
  ];
}

describe('cameras of a robot process', () => {
  it('reach every subscriber with their frame number and capture time intact', async () => {
    const overrides = [...(await ports()), ...CAMERAS];
    const robot = startFarhand(['robot', ...overrides, '--json']);
    const frames: ReceivedFrame[] = [];
    try {
      await robot.waitFor(/"kind":"ready"/);
      const config = frameReceiverConfig(loadRig('demo', overrides).config);
      const receiver = await openFrameReceiver(config, (frame) => frames.push(frame), { project: sameClock });
      for (let i = 0; i < 300 && frames.length < 40; i++) await sleep(20);
      receiver.close();
    } finally {
      assert.equal(await robot.end(), 0, robot.stderr());
    }
    assert.ok(frames.length >= 40, `${frames.length} pictures; ${robot.stderr()}`);
    const coder = await loadJpegCoder();
    for (const camera of ['front', 'pattern']) {
      const own = frames.filter((frame) => frame.camera === camera);
      const values = own.map((frame) => readStrip(coder.decode(frame.bytes)!));
      for (const [i, value] of values.entries())
        assert.equal(value, stripValue(value >>> 16, own[i]!.captureNs), 'the stamp belongs to this picture');
      for (let i = 1; i < values.length; i++)
        assert.ok(values[i]! >>> 16 > values[i - 1]! >>> 16, 'in order');
      assert.ok(own.every((frame) => frame.arrivedNs > frame.captureOperatorNs));
    }
    const report = JSON.parse(robot.stdout().trim().split('\n').at(-1)!) as {
      cameras: { camera: string; frames: number; restarts: number }[];
    };
    assert.deepEqual(
      report.cameras.map(({ camera, restarts }) => [camera, restarts]),
      [
        ['front', 0],
        ['pattern', 0],
      ],
    );
  });

  it('never keep the robot from running when the port is in use', async () => {
    const settings = await ports();
    const taken = Number(settings.find((text) => text.startsWith('cameras.port='))!.split('=')[1]);
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(taken, '127.0.0.1', resolve));
    const robot = startFarhand(['robot', ...settings, ...CAMERAS, '--json']);
    try {
      await robot.waitFor(/"kind":"ready"/);
      for (let i = 0; i < 100 && !robot.stderr().includes('no cameras'); i++) await sleep(20);
      assert.match(
        robot.stderr(),
        /no cameras: TCP 127\.0\.0\.1:\d+ for the cameras is in use[\s\S]*cameras\.port=/,
      );
    } finally {
      assert.equal(await robot.end(), 0);
      holder.close();
    }
  });
});

describe('farhand demo --cameras', () => {
  it('films the arm and a test pattern while the arm follows', async () => {
    const settings = [`trace.dir=${folder}`, `cameras.port=${(await freeUdpPorts(1))[0]!}`];
    const { code, stdout, stderr } = await farhand(
      ['demo', '--headless', '--cameras', '--duration', '2', '--json', ...settings],
      55_000,
    );
    assert.equal(code, 0, stderr);
    const { applied, roles } = JSON.parse(stdout) as {
      applied: number;
      roles: { role: string; cameras: { camera: string; source: string; frames: number }[] }[];
    };
    assert.ok(applied > 10, `${applied} commands`);
    const filmed = roles.find(({ role }) => role === 'robot')!.cameras;
    assert.deepEqual(
      filmed.map(({ camera, source }) => [camera, source]),
      [
        ['front', 'sim'],
        ['pattern', 'test-pattern'],
      ],
    );
    assert.ok(
      filmed.every(({ frames }) => frames > 2),
      JSON.stringify(filmed),
    );
  });
});

describe('farhand camera', () => {
  it('films without a robot, and view saves what arrives', async () => {
    const settings = [
      ...(await ports()),
      'cameras.wire=udp',
      ...CAMERAS,
      'cameras.list.gone.source=v4l2',
      'cameras.list.gone.options.device=/dev/no-such-camera',
    ];
    const film = startFarhand(['camera', ...settings]);
    const out = path.join(folder, 'seen');
    try {
      await film.waitFor(/cameras front, pattern, gone on UDP/);
      const view = startFarhand(['camera', 'view', ...settings, '--json', '--out', out]);
      const flowing = (lines: Seen[]) =>
        lines.findLast(({ cameras: [front, pattern] }) => front!.rateHz > 1 && pattern!.rateHz > 1);
      const lines = () =>
        view
          .stdout()
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as Seen);
      for (let i = 0; i < 200 && flowing(lines()) === undefined; i++) await sleep(100);
      assert.equal(await view.end(), 0, view.stderr());
      const last = flowing(lines());
      assert.ok(last, view.stdout());
      const [front, pattern, gone] = last.cameras;
      for (const camera of [front!, pattern!]) {
        assert.ok(camera.ageMs!.p50 > 0, JSON.stringify(camera));
        assert.equal(camera.stale, false);
      }
      assert.deepEqual([gone!.rateHz, gone!.stale], [0, true]);
      const coder = await loadJpegCoder();
      assert.equal(coder.decode(readFileSync(path.join(out, readdirSync(out)[0]!)))?.widthPx, 640);
    } finally {
      await film.end();
    }
    assert.match(film.stdout(), /camera gone: there is no video device[\s\S]*ls \/dev\/video/);
    assert.match(film.stdout(), /camera pattern \(test-pattern\): \d+ pictures/);
  });

  it('reports a rig without cameras', async () => {
    const { code, stderr } = await farhand(['camera']);
    assert.equal(code, 2);
    assert.match(stderr, /has no camera[\s\S]*cameras\.list\.front\.source=test-pattern/);
  });
});

interface Seen {
  cameras: { camera: string; rateHz: number; ageMs: { p50: number } | null; stale: boolean }[];
}
