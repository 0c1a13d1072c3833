import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { packageRoot } from '../../src/files/package-root.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A change to a template's `index.js`, and the only test of its contract suite that then fails. */
interface Defect {
  what: string;
  kind: 'input' | 'robot';
  from: string;
  to: string;
  fails: string;
}

const DEFECTS: readonly Defect[] = [
  {
    what: 'a hand stamped with the time of the call',
    kind: 'input',
    from: 'out.takenNs = this.#takenNs;',
    to: 'out.takenNs = isFresh ? nowNs : this.#takenNs;',
    fails: 'stamps a hand with the time it was seen, not with the time of the call',
  },
  {
    what: 'an e-stop that stays set after its message',
    kind: 'input',
    from: 'this.estop = (this.#buttons & 2) !== 0;',
    to: 'this.#wasStopped ||= (this.#buttons & 2) !== 0; this.estop = this.#wasStopped;',
    fails: 'requests an e-stop with its message, and with no later one',
  },
  {
    what: 'an e-stop that stays set in the samples',
    kind: 'input',
    from: 'out.estop = isFresh && (this.#buttons & 2) !== 0;',
    to: 'this.#wasStopped ||= (this.#buttons & 2) !== 0; out.estop = this.#wasStopped;',
    fails: 'requests an e-stop with its message, and with no later one',
  },
  {
    what: 'an e-stop that is overlooked',
    kind: 'input',
    from: '(this.#buttons & 2) !== 0',
    to: 'false',
    fails: 'requests an e-stop with its message, and with no later one',
  },
  {
    what: 'a stop that outlasts a reset unnoticed: enabled, but deaf',
    kind: 'robot',
    from: 'this.#targetRad.set(positionsRad);',
    to: 'if (!this.#wasStopped) this.#targetRad.set(positionsRad);',
    fails: 'follows again after each stop, once it is enabled',
  },
];

/** What defects add to a template. */
const FIELD = '  #wasStopped = false;\n';

function copyOf(kind: 'input' | 'robot'): { folder: string; source: string } {
  const folder = temporaryFolder(`broken-${kind}`);
  cpSync(path.join(packageRoot, 'templates', kind), folder, { recursive: true });
  mkdirSync(path.join(folder, 'node_modules'));
  symlinkSync(packageRoot, path.join(folder, 'node_modules', 'farhand'));
  return { folder, source: readFileSync(path.join(folder, 'index.js'), 'utf8') };
}

/** Names of the tests that fail in a plug-in's folder. */
function failing(folder: string, pattern = '.'): Promise<{ failed: string[]; output: string }> {
  // It is no test of this file: its results are only read.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ['--test-reporter=tap', `--test-name-pattern=${pattern}`, 'contract.test.js'];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env, maxBuffer: 2 ** 26 }, (_error, output) => {
      // Suites, which fail with their tests, have these below them.
      const failed = [...output.matchAll(/^ {4}not ok \d+ - (.+)$/gm)].map(([, name]) => name!);
      resolve({ failed, output });
    });
  });
}

const DEVICE_ESTOP = 'reports it while it is pressed, and follows again once it is released';

const FIXTURE = `{
  hasEstop: true,
  start: async () => ({ options: {}, estop: (isPressed) => { globalThis.isPressed = isPressed; }, kill() {}, stop() {} }),
}`;

/** A template with a device that has an e-stop button. `resets`: enabling clears what the button caused. */
function withButton(resets: boolean): string {
  const { folder, source } = copyOf('robot');
  const enable = resets
    ? "if (this.fault === 'closed' || globalThis.isPressed) return 'fault';\n    this.fault = '';"
    : "if (this.fault !== '') return 'fault';";
  const changed = source
    .replace("if (this.fault !== '') return 'fault';", enable)
    .replace(
      "if (this.fault !== '') return 'fault';\n    this.#move(nowNs);\n    out",
      (line) => `if (globalThis.isPressed) this.fault = 'e-stop';\n    ${line}`,
    );
  writeFileSync(path.join(folder, 'index.js'), changed);
  const test = path.join(folder, 'contract.test.js');
  const fixed = readFileSync(test, 'utf8').replace('/robot.yaml`)', `/robot.yaml\`), ${FIXTURE}`);
  writeFileSync(test, fixed);
  return folder;
}

describe('contract suites', () => {
  it('fail for an e-stop button of the device that nothing resets', async () => {
    const good = await failing(withButton(true), DEVICE_ESTOP);
    assert.deepEqual(good.failed, [], good.output);
    assert.match(good.output, new RegExp(`^ +ok \\d+ - ${DEVICE_ESTOP}$`, 'm'));
    const broken = await failing(withButton(false), DEVICE_ESTOP);
    assert.deepEqual(broken.failed, [DEVICE_ESTOP], broken.output);
  });

  for (const kind of ['input', 'robot'] as const)
    it(`pass for the template of an ${kind}`.replace('an robot', 'a robot'), async () => {
      const { failed, output } = await failing(copyOf(kind).folder);
      assert.match(output, /^# fail 0$/m);
      assert.match(output, /^# pass [1-9]/m);
      assert.deepEqual(failed, []);
    });

  for (const { what, kind, from, to, fails } of DEFECTS)
    it(`fail for ${what}`, async () => {
      const { folder, source } = copyOf(kind);
      assert.ok(source.includes(from), `templates/${kind}/index.js has no "${from}"`);
      let broken = source
        .replaceAll(from, to)
        .replace('  stop(nowNs) {\n', (line) => `${line}    this.#wasStopped = true;\n`);
      broken = broken.replace(/^class .*\n/m, (line) => line + FIELD);
      writeFileSync(path.join(folder, 'index.js'), broken);
      const { failed, output } = await failing(folder);
      assert.deepEqual(failed, [fails], output);
    });
});
