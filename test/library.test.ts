import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from './temporary-folder.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '..', '..');

/** Everything that TypeScript can be strict about. */
const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  isolatedModules: true,
  skipLibCheck: false,
  allowJs: true,
  checkJs: true,
  noEmit: true,
  module: 'nodenext',
  target: 'es2022',
  lib: ['es2023'],
  types: ['node'],
};

const PROGRAM = `
import { connect, defineRobot, type Driver, type JointReading, type RobotModel, type Session, z } from 'farhand';
import { loadModel, testRobot } from 'farhand/testing';

class Arm implements Driver {
  fault = '';
  readonly #positionsRad: Float64Array;
  constructor(model: RobotModel) { this.#positionsRad = Float64Array.from(model.homeRad); }
  enable() { return 'ok' as const; }
  read(nowNs: number, out: JointReading) {
    out.robotNs = nowNs;
    out.positionsRad.set(this.#positionsRad);
    return 'ok' as const;
  }
  write(_nowNs: number, positionsRad: Float64Array) { this.#positionsRad.set(positionsRad); return 'ok' as const; }
  stop() {}
  dispose() {}
}
const plugin = defineRobot({
  about: 'an arm in TypeScript',
  config: z.strictObject({ host: z.string().default('127.0.0.1') }),
  inline: ({ host }) => host === '',
  open: async (_options, model) => new Arm(model),
});
testRobot('arm', plugin, loadModel('robot.yaml'));

export async function watch(): Promise<number[]> {
  const session: Session = await connect('http://127.0.0.1:4747');
  session.onTelemetry = (telemetry) => console.log(telemetry.robot?.state);
  // @ts-expect-error There is no such request.
  session.request('fly');
  // @ts-expect-error A hand has a pose.
  session.hand({ clutch: true });
  const { robot } = await session.until((telemetry) => telemetry.robot?.state === 'engaged', 5000);
  return [...(robot?.measuredRad ?? [])];
}
`;

describe('the library for a program with strict types', () => {
  it('types the example, the templates and their tests', { timeout: 120_000 }, async () => {
    const folder = temporaryFolder('library-types');
    const packages = path.join(folder, 'node_modules');
    mkdirSync(path.join(packages, '@types'), { recursive: true });
    symlinkSync(root, path.join(packages, 'farhand'));
    symlinkSync(path.join(root, 'node_modules', '@types', 'node'), path.join(packages, '@types', 'node'));
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(path.join(folder, 'program.ts'), PROGRAM);
    cpSync(path.join(root, 'examples', 'client', 'drive.mjs'), path.join(folder, 'drive.ts'));
    for (const kind of readdirSync(path.join(root, 'templates')))
      cpSync(path.join(root, 'templates', kind), path.join(folder, kind), { recursive: true });
    const config = { compilerOptions: STRICT, exclude: ['node_modules'] };
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', '.'], { cwd: folder }).catch(
      (error: { stdout: string }) => error,
    );
    assert.equal(stdout, '');
  });

  it('has the interface that docs/api-report.txt shows', { timeout: 120_000 }, async () => {
    const check = [path.join('scripts', 'build-types.mjs'), '--check'];
    const { stderr } = await run(process.execPath, check, { cwd: root }).catch(
      (error: { stderr: string }) => error,
    );
    assert.equal(stderr, '');
  });
});
