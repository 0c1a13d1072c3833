import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { root } from '../e2e/farhand.ts';
import { patienceOf } from '../patience.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const python = process.env['FARHAND_PYTHON'];
const why =
  python === undefined
    ? 'set FARHAND_PYTHON to a Python with lerobot 0.4.4: pip install python/farhand-policy (8 GB)'
    : false;
const JOINTS_PORT = 24_770;
const SWING_S = 8;
const DEMO = [
  ...['demo', '--cameras', '--no-open', 'console.port=0', 'trace.dir='],
  `operator.inputs.joints.port=${JOINTS_PORT}`,
];

interface Seen {
  features: Record<string, string>;
  picture: [number[], string, number];
  sentRad: number;
  movedRad: number;
  toldRad: number;
  told: string[];
}

describe('LeRobot plug-ins', { skip: why, timeout: 300_000 }, () => {
  const folder = temporaryFolder('plugins');
  let demo: ChildProcess;
  let url = '';

  before(async () => {
    demo = spawn(process.execPath, [path.join(root, 'bin', 'farhand'), ...DEMO, ...patienceOf(DEMO)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    for await (const bytes of demo.stdout!) {
      text += String(bytes);
      url = /(http:\/\/localhost:\d+)/.exec(text)?.[1] ?? '';
      if (url !== '') break;
    }
    demo.stdout!.resume();
  });
  after(async () => {
    demo.kill('SIGTERM');
    await once(demo, 'exit');
    rmSync(folder, { recursive: true, force: true });
  });

  it('LeRobot finds them by their names; its loop moves the arm, and the page’s robot leads another', () => {
    const packages = ['farhand-client', 'lerobot_robot_farhand', 'lerobot_teleoperator_farhand'];
    const site = path.join(folder, 'site');
    const temporary = path.join(folder, 'tmp');
    mkdirSync(temporary);
    const env = { ...process.env, PYTHONPATH: site, TMPDIR: temporary, HF_HUB_OFFLINE: '1' };
    const run = (args: string[]) => {
      const done = spawnSync(python!, args, { encoding: 'utf8', env, cwd: root });
      assert.equal(done.status, 0, done.stderr.slice(-3000));
      return done.stdout;
    };
    const install = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-deps',
      '--no-build-isolation',
      '--target',
      site,
    ];
    run([...install, ...packages.map((name) => path.join(root, 'python', name))]);
    const script = path.join('test', 'interop', 'lerobot_plugins.py');
    const text = run([script, url, String(JOINTS_PORT), String(SWING_S)]);
    const seen = JSON.parse(text.trim().split('\n').at(-1)!) as Seen;
    assert.equal(Object.keys(seen.features).length, 6 + 1 + 1);
    assert.deepEqual([seen.picture[0][2], ...seen.picture.slice(1)], [3, 'uint8', 1]);
    assert.ok(seen.sentRad > 0.3, `${seen.sentRad} rad were asked for`);
    assert.ok(seen.movedRad > 0.2, `the arm moved by ${seen.movedRad} rad`);
    assert.ok(seen.toldRad > 0.2, `the other robot was told to move by ${seen.toldRad} rad`);
    assert.equal(seen.told.length, 7);
  });
});
