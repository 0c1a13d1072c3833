import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { connect } from '../../src/library/connect.ts';
import type { Session } from '../../src/library/session.ts';
import { needs, PYTHON } from '../needs.ts';
import { patienceOf } from '../patience.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { root } from './farhand.ts';

const run = promisify(execFile);
const bin = path.join(root, 'bin', 'farhand');
const folder = temporaryFolder('library');
/** A verb in the user's own folder. */
const farhand = (...args: string[]) =>
  run(process.execPath, [bin, ...args], { cwd: folder }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      text: stdout + stderr,
    }),
  );

describe('plug-ins outside Farhand', () => {
  for (const kind of ['robot', 'gripper', 'input', 'camera'])
    it(`${kind}: the example keeps the contract`, async () => {
      assert.equal((await farhand('plugins', 'new', kind, `my-${kind}`)).code, 0);
      const where = `plugins/farhand-${kind}-my-${kind}`;
      const tested = await farhand('plugins', 'test', where);
      assert.equal(tested.code, 0, tested.text);
      assert.match(tested.text, /pass [1-9]/);
    });

  it('a broken one is named with its remedy, and no other verb suffers', async () => {
    for (const [name, text] of [
      ['throws', 'throw new Error("on purpose");'],
      ['empty', 'export default {};'],
      ['wrong-kind', 'import { defineInput } from "farhand"; export default defineInput({ about: "x" });'],
    ] as const) {
      const where = path.join(folder, 'plugins', `farhand-robot-${name}`);
      mkdirSync(where, { recursive: true });
      writeFileSync(path.join(where, 'package.json'), '{"type":"module"}');
      writeFileSync(path.join(where, 'index.js'), text);
    }
    const { text: list } = await farhand('plugins');
    for (const kind of ['robot', 'gripper', 'input', 'camera'])
      assert.match(list, new RegExp(` my-${kind} `));
    assert.match(list, /throws.*on purpose/);
    assert.match(list, /wrong-kind.*its default export is no driver/);
    const { code, text } = await farhand('demo', '--headless', '--duration', '1', 'robot.driver=empty');
    assert.equal(code, 2, text);
    assert.match(text, /farhand-robot-empty: its default export is no driver .*\n {2}→ Export `defineRobot/);
  });
});

describe('a program as a client', () => {
  let demo: ChildProcess;
  let url = '';
  before(async () => {
    const args = [
      'demo',
      'rig=my-robot',
      '--no-open',
      'console.port=0',
      'record.dir=recordings',
      'trace.dir=',
    ];
    demo = spawn(process.execPath, [bin, ...args, ...patienceOf(args)], {
      cwd: folder,
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
  });

  const examples = [
    ['drive.mjs', process.execPath, {}],
    ['drive.py', PYTHON, { skip: needs('websockets') }],
  ] as const;
  for (const [name, program, options] of examples)
    it(`${name} of the documentation draws and records`, { timeout: 90_000, ...options }, async () => {
      const env = {
        ...process.env,
        FARHAND_CONSOLE: url,
        PYTHONPATH: path.join(root, 'python', 'farhand-client'),
      };
      const { stdout } = await run(program, [path.join(root, 'examples', 'client', name)], { env });
      const [, episode] = /^recorded (\S+?),? robot (?:engaged|hold|armed)$/m.exec(stdout) ?? [];
      assert.ok(episode !== undefined, stdout);
      assert.ok(existsSync(path.join(folder, 'recordings', `${episode}.mcap`)), `${episode} is recorded`);
    });

  it('drives, records, and stops the robot; another one only watches', { timeout: 90_000 }, async () => {
    const session = await connect(url);
    const watcher = await connect(url);
    try {
      await session.take();
      await session.useInput('page');
      session.request('arm');
      session.request('teleop');
      await session.startRecording('raise the hand');
      const { robot } = await session.until((telemetry) => telemetry.robot !== null);
      const beforeRad = robot!.measuredRad;
      await raise(session);
      const after = session.telemetry!.robot!.measuredRad;
      assert.ok(
        after.some((rad, i) => Math.abs(rad - beforeRad[i]!) > 0.02),
        'the robot has moved',
      );
      assert.match(await session.stopRecording('success'), /\w/);
      await assert.rejects(() => watcher.useInput('scripted'), /another page is in control/);
      watcher.request('estop');
      await session.until((telemetry) => telemetry.robot?.state === 'stopped', 10_000);
    } finally {
      session.close();
      watcher.close();
    }
  });

  it('from Python, with the same words', { skip: needs('websockets') }, async () => {
    const code = `
from farhand_client import connect
with connect(${JSON.stringify(url)}) as session:
    session.take()
    session.request("reset")
    print(session.until(lambda t: t["robot"] and t["robot"]["state"] == "idle", 10)["robot"]["state"])
`;
    const env = { ...process.env, PYTHONPATH: path.join(root, 'python', 'farhand-client') };
    const { stdout } = await run(PYTHON, ['-c', code], { env });
    assert.equal(stdout.trim(), 'idle');
  });

  it('says what to do when there is no console', async () => {
    await assert.rejects(
      () => connect('http://127.0.0.1:9'),
      (error: { code: string; hint: string }) =>
        error.code === 'robot-unreachable' && /farhand demo/.test(error.hint),
    );
  });
});

/**
 * Opens and closes the clutch until the robot follows, then raises the hand by 6 cm. A busy machine may pause this program:
 * the robot then holds, and the clutch must be opened again.
 */
async function raise(session: Session): Promise<void> {
  let heightM = 1;
  let sent = 0;
  const timer = setInterval(() => {
    const isEngaged = session.telemetry?.robot?.state === 'engaged';
    if (isEngaged) heightM = Math.min(1.06, heightM + 0.002);
    const clutch = isEngaged || sent++ % 60 > 15;
    session.hand({ positionM: [0, heightM, -0.3], quatXyzw: [0, 0, 0, 1], gripper: 0, clutch });
  }, 16);
  try {
    await session.until(() => heightM >= 1.06, 30_000, 'the raised hand');
    await session.until(({ hand }) => (hand?.positionM[1] ?? 0) > 1.05, 10_000);
  } finally {
    clearInterval(timer);
  }
}
