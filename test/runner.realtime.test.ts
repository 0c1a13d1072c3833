import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Lifetime } from './lifetime.ts';
import { needs } from './needs.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder('runner');
const life = new Lifetime();
let files = 0;

function start(body: string, env: Record<string, string> = {}): ChildProcess {
  const file = path.join(folder, `case-${files++}.mjs`);
  const fastCheck = pathToFileURL(path.resolve('node_modules/fast-check/lib/fast-check.js')).href;
  writeFileSync(
    file,
    `import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
${body.replace("'fast-check'", `/* 'fast-check' */ '${fastCheck}'`)}`,
  );
  const child = spawn(process.execPath, ['scripts/test.mjs', file], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return life.own(child, (each) => each.kill('SIGKILL'));
}

async function run(
  body: string,
  env: Record<string, string> = {},
): Promise<{ code: number; output: string }> {
  const child = start(body, env);
  let output = '';
  child.stdout!.on('data', (data: Buffer) => {
    output += data.toString();
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

/** Processes with this word among their arguments. */
const processesWith = (word: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word);
    } catch {
      return false;
    }
  });

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const endMs = performance.now() + 20_000; !holds(); await sleep(50))
    assert.ok(performance.now() < endMs, what);
}

/** A sleep duration that no other process on this machine uses. */
const nap = (n: number): string => `${600 + n}.${process.pid}`;

// Each on files of its own; most of it is waiting.
describe('the test runner', { skip: needs('Linux'), concurrency: 3 }, () => {
  after(() => life.end());

  it('counts, shows a failure in full with its output, and ends with one plain line', async () => {
    const { code, output } = await run(`
      describe('a suite', () => {
        it('passes', () => {});
        it('fails', () => { console.log('printed before'); throw new Error('broken here'); });
      });
      describe('skipped', { skip: 'needs frob: apt-get install frob' }, () => {
        it('one', () => {});
        it('two', () => {});
      });`);
    assert.equal(code, 1);
    assert.match(output, /FAILED .* › a suite › fails/);
    assert.match(output, /Error: broken here/);
    assert.match(output, /printed before/);
    assert.match(output, /Not run:\n +2 {2}needs frob: apt-get install frob\n/);
    assert.equal(output.trimEnd().split('\n').at(-1), '1 passed, 1 failed, 2 skipped');
  });

  it('ends processes that a test leaves, in any group or environment, and fails its file', async () => {
    const { code, output } = await run(`
      it('leaves', () => {
        for (const options of [{}, { detached: true }, { env: {} }])
          spawn('sleep', ['${nap(0)}'], { stdio: 'ignore', ...options }).unref();
      });`);
    assert.equal(code, 1);
    assert.equal(output.match(/left process \d+ running: sleep/g)?.length, 6, output);
    assert.deepEqual(processesWith(nap(0)), []);
  });

  it('fails a file that leaves something in its temporary folder, and removes it', async () => {
    const { code, output } = await run(`it('leaves', () => console.log(mkdtempSync(tmpdir() + '/left-')));`);
    assert.equal(code, 1);
    assert.match(output, /left in its temporary folder: left-/);
  });

  it('ends everything when it is killed itself', async () => {
    const own = temporaryFolder('runner');
    const child = start(
      `it('waits', async () => {
        spawn('sleep', ['${nap(1)}'], { stdio: 'ignore', detached: true });
        await new Promise((resolve) => setTimeout(resolve, 50_000));
      });`,
      { TMPDIR: own },
    );
    await until('it runs', () => processesWith(nap(1)).length === 1);
    child.kill('SIGKILL');
    await until('its processes are gone', () => processesWith(nap(1)).length === 0);
    await until('its folder is gone', () => readdirSync(own).length === 0);
  });

  it('multiplies time limits on a slower machine', async () => {
    const limited = `it('takes a while', { timeout: 300 }, () => new Promise((resolve) => setTimeout(resolve, 900)));`;
    assert.match((await run(limited, { FARHAND_SLOWER: '1' })).output, /test timed out after 300ms/);
    assert.match((await run(limited, { FARHAND_SLOWER: '20' })).output, /\n1 passed, 0 failed/);
  });

  it('ends a file that stays alive after its tests, and reports what holds it', async () => {
    const { code, output } = await run(`
      import { createServer } from 'node:net';
      it('listens', { timeout: 500 }, async () => { createServer().listen(0); await new Promise(() => {}); });
      it('goes on', () => {});`);
    assert.equal(code, 1);
    assert.match(output, /test timed out after 500ms/);
    assert.match(output, /still open: .*TCPServerWrap/);
    assert.match(output, /\n1 passed, /);
  });

  it('gives property tests the seed it is given, and names it when one fails', async () => {
    const { output } = await run(
      `import fc from 'fast-check';
      it('is false', () => fc.assert(fc.property(fc.integer(), (n) => n < 10)));`,
      { FARHAND_SEED: '4711' },
    );
    assert.match(output, /seed: 4711/);
    assert.match(output, /Again: FARHAND_SEED=4711 node scripts\/test\.mjs/);
  });
});
