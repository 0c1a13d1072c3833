import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it, type TestContext } from 'node:test';
import { SlcanAdapter } from '../../sim/piper/adapter.ts';
import { packageRoot } from '../../src/files/package-root.ts';
import { frameText, parseFrameText } from '../../src/robot/buses/can-frame.ts';
import { openPty } from '../../src/robot/buses/pty.ts';
import {
  enableFrame,
  firmwareQueryFrame,
  followerFrame,
  MOVE,
  modeFrame,
  resumeFrame,
  stopFrame,
} from '../../src/robot/drivers/piper/frames.ts';
import { flangeChain } from '../../src/robot/drivers/piper/geometry.ts';
import { pythonWith } from '../interop/python-venv.ts';
import { needs } from '../needs.ts';
import { model, PiperRig, withRig } from '../piper/piper-rig.ts';

const PEER = path.join(packageRoot, 'test', 'e2e', 'piper-sdk-peer.py');
const PACKAGES = ['piper_sdk==0.6.2', 'python-can==4.6.1', 'pyserial==3.5'];

/** An interpreter that has the vendor's SDK, or why there is none. */
async function findPython(): Promise<{ python: string } | { why: string }> {
  const noTerminal = needs('Linux');
  if (noTerminal) return { why: noTerminal };
  const found = await pythonWith('piper_sdk, can, serial', ...PACKAGES);
  return found.ok ? { python: found.python } : { why: found.why };
}

/** Runs a task of the peer; resolves with its result. `onLine` gets all its other output. */
async function peer(
  python: string,
  args: readonly string[],
  onLine: (line: string) => void = () => {},
): Promise<Record<string, unknown>> {
  const child: ChildProcess = spawn(python, [PEER, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let result: Record<string, unknown> | null = null;
  let said = '';
  createInterface({ input: child.stdout! }).on('line', (line) => {
    if (line.startsWith('result ')) result = JSON.parse(line.slice(7)) as Record<string, unknown>;
    else onLine(line);
    said += `${line}\n`;
  });
  child.stderr!.on('data', (bytes) => {
    said += String(bytes);
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 90_000);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  assert.ok(result !== null, said);
  return result;
}

/** A quarter of the real feedback rate: Python cannot keep up with all of it on a busy machine. */
const SLOW = { feedbackShare: 0.25 };

const nearAll = (actual: unknown, expected: readonly number[], by: number) => {
  for (const [i, value] of expected.entries())
    assert.ok(
      Math.abs((actual as number[])[i]! - value) <= by,
      `${String(actual)} is not ${expected.join()}`,
    );
};

describe('the vendor’s SDK (piper_sdk over python-can’s slcan)', { timeout: 200_000 }, () => {
  let found: { python: string } | { why: string } = { why: 'not looked for' };
  const pythonOr = (t: TestContext): string | null => {
    if ('python' in found) return found.python;
    t.skip(found.why);
    return null;
  };
  before(async () => {
    found = await findPython();
  });
  let rig: PiperRig | undefined;
  after(() => rig?.end());

  it('enables, moves, reads and stops our simulated arm', async (t) => {
    const python = pythonOr(t);
    if (python === null) return;
    await withRig(SLOW, async ({ link, sim }) => {
      const goal = [11459, 34377, -22918, 5730, -11459, 28648];
      const out = await peer(python, ['drive', link, JSON.stringify(goal), '50000']);
      assert.equal(out['firmware'], 'S-V1.8-2');
      assert.equal(out['enabled'], true);
      nearAll(out['joints'], goal, 20);
      nearAll([out['stroke']], [50_000], 50);
      assert.deepEqual(out['mode'], [1, 1, 0]);
      assert.deepEqual(out['limits'], [1200, -1200, 3000]);
      const positionM = new Float64Array(3);
      const goalRad = goal.map((millideg) => (millideg * Math.PI) / 180_000);
      flangeChain(model).frame(goalRad, 6, positionM, new Float64Array(4));
      nearAll(
        (out['pose'] as number[]).slice(0, 3),
        [...positionM].map((m) => m * 1e6),
        300,
      );
      assert.equal(out['stopped'], true);
      assert.equal(out['dropped'], true);
      assert.equal(sim.arm.motion.allPowered, false);
    });
  });

  it('sends the same bytes as we do for the same commands', async (t) => {
    const python = pythonOr(t);
    if (python === null) return;
    await withRig(SLOW, async ({ link, commands }) => {
      await peer(python, ['speak', link]);
      const ours = [
        followerFrame(),
        firmwareQueryFrame(),
        enableFrame(true),
        modeFrame(MOVE.joint, 25),
        modeFrame(MOVE.pose, 25),
        stopFrame(),
        resumeFrame(),
      ].map(frameText);
      const theirs = commands.filter((text) => !/^(15[2-79])#/.test(text));
      assert.deepEqual(theirs, ours);
      for (const text of ['155#00002CC300002CC3', '154#00014C0800000000', '159#000088B803E80100'])
        assert.ok(commands.includes(text), text);
    });
  });

  it('decodes the frames of our driver to the values we wrote', async (t) => {
    const python = pythonOr(t);
    if (python === null) return;
    rig = await PiperRig.start({ startRad: [0.1, 1, -1, 0, 0.3, 0] });
    const arm = await rig.open();
    assert.equal(await arm.enable(), 'ok');
    await arm.run(50);
    rig.commands.length = 0;
    const target = [0.123456, 1.05, -1.1, 0.07, 0.25, -0.33];
    await arm.run(400, target);
    arm.driver.dispose();
    const sent = rig.commands.filter((text) => /^15[15679]#/.test(text)).slice(-20);
    assert.equal(sent.length, 20);
    const pty = await openPty();
    const adapter = new SlcanAdapter(pty, { acknowledges: false, onFrame: () => {} });
    let listening = false;
    const ticker = setInterval(() => {
      adapter.poll();
      if (listening && adapter.open) for (const text of sent) adapter.receive(parseFrameText(text)!, 0);
      adapter.flush();
    }, 20);
    const out = await peer(python, ['listen', pty.path], (line) => {
      listening ||= line === 'listening';
    });
    clearInterval(ticker);
    pty.close();
    assert.deepEqual(
      out['joints'],
      target.map((rad) => Math.round((rad * 180_000) / Math.PI)),
    );
    assert.equal(out['stroke'], 35_000);
    assert.equal(out['effort'], 1000);
    assert.deepEqual(out['mode'], [1, 1, 25]);
  });
});
