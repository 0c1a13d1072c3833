import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { Marked } from './marked.ts';

const MS = 90_000;
/** Long enough to count as a second request. */
const APART_MS = 300;
const PLAIN = 'link.security=plain';

/** `ready`: printed once the verb runs. */
const VERBS: Record<string, { args: (port: number) => string[]; ready: RegExp }> = {
  robot: { args: (port) => ['robot', PLAIN, ...linkPorts(port)], ready: /robot ready/ },
  operator: {
    args: (port) => [
      'operator',
      PLAIN,
      ...linkPorts(port),
      `console.deskPort=${port + 3}`,
      `console.telemetryPort=0`,
    ],
    ready: /operator ready/,
  },
  console: { args: () => ['console', 'console.port=0'], ready: /console: http/ },
  demo: { args: () => ['demo', '--headless'], ready: /→ engaged/ },
  link: { args: () => ['link', '--profile', 'wifi', '0=4750'], ready: /link ready/ },
  'check echo': { args: () => ['check', 'echo', '--echo-port', '0'], ready: /echo ready/ },
  'check local': { args: () => ['check', 'local', '--duration', '60'], ready: /measuring|settling/ },
  bench: { args: () => ['bench', 'transports'], ready: /^/ },
  camera: {
    args: () => ['camera', PLAIN, 'cameras.list.a.source=test-pattern', 'cameras.wire=udp', 'cameras.port=0'],
    ready: /cameras a on/,
  },
  'sim ur': { args: () => ['sim', 'ur', '--port', '0'], ready: /./ },
  send: { args: (port) => ['send', 'rctp', '--port', String(port)], ready: /^/ },
  listen: { args: (port) => ['listen', 'rctp', '--port', String(port)], ready: /listening/ },
  profile: { args: () => ['profile', '.', '--port', '0'], ready: /Profiler on/ },
};

const linkPorts = (port: number): string[] =>
  ['command', 'state', 'sync'].map((name, i) => `link.${name}Port=${port + i}`);

async function seen(text: () => string, pattern: RegExp): Promise<void> {
  for (const untilMs = performance.now() + MS; performance.now() < untilMs; await sleep(50))
    if (pattern.test(text())) return;
  throw new Error(`${pattern} not seen in ${text()}`);
}

describe('one signal', { skip: needs('Linux') }, () => {
  it('ends a demo that is still starting without a complaint', { timeout: 2 * MS }, async () => {
    const runs = new Marked();
    const late = setTimeout(() => runs.close(), MS);
    try {
      const run = runs.start(['demo', '--headless']);
      for (let i = 0; i < 2000 && !runs.processes().some((pid) => / robot /.test(commandOf(pid))); i++)
        await sleep(20);
      run.kill('SIGINT');
      assert.deepEqual(await run.exited, { code: 0, signal: null }, run.err());
      assert.equal(run.err(), '');
    } finally {
      clearTimeout(late);
      runs.close();
    }
  });
});

// Most of it is waiting, so three at a time.
describe('a second signal', { skip: needs('Linux'), concurrency: 3 }, () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    it(`${signal} ends a process whose shutdown hangs and whose thread is blocked`, async () => {
      const helper = pathToFileURL(path.join(process.cwd(), 'dist', 'src', 'cli', 'process.js')).href;
      const code = `
        const { onEndRequest } = await import(${JSON.stringify(helper)});
        const { Worker } = await import('node:worker_threads');
        new Worker('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', { eval: true });
        onEndRequest(() => console.log('asked'), { unfinished: () => ['x.mcap.part'] });
        setInterval(() => {}, 1000);
        console.log('ready');`;
      const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', code]);
      const late = setTimeout(() => child.kill('SIGKILL'), MS);
      let [out, err] = ['', ''];
      child.stdout!.on('data', (data: Buffer) => (out += data.toString()));
      child.stderr!.on('data', (data: Buffer) => (err += data.toString()));
      const exited = once(child, 'close');
      await seen(() => out, /ready/);
      child.kill(signal);
      await seen(() => out, /asked/);
      // An earlier second signal, such as `npm start` forwards, would be the same request.
      await sleep(APART_MS);
      assert.equal(child.exitCode, null);
      child.kill(signal);
      assert.deepEqual(await exited, [null, signal]);
      clearTimeout(late);
      assert.match(err, /x\.mcap\.part is incomplete\. `farhand recover x\.mcap\.part` finishes it/);
      assert.equal(out.match(/asked/g)?.length, 1);
    });

  for (const [name, { args, ready }] of Object.entries(VERBS))
    it(`ends \`farhand ${name}\` and everything it started`, { timeout: 2 * MS }, async () => {
      const runs = new Marked();
      const late = setTimeout(() => runs.close(), MS);
      try {
        const [port = 0] = await freeUdpPorts(1);
        const run = runs.start(args(port));
        await seen(() => run.out() + run.err(), ready);
        await sleep(ready.source === '^' ? 2000 : 0);
        run.kill('SIGTERM');
        await sleep(APART_MS);
        run.kill('SIGTERM');
        const { code, signal } = await run.exited;
        assert.ok(code !== null || signal === 'SIGTERM', `${code} ${signal} ${run.err()}`);
        // Its children notice that it is gone and end.
        for (let i = 0; i < 200 && runs.processes().length > 0; i++) await sleep(100);
        assert.deepEqual(runs.processes().map(commandOf), []);
      } finally {
        clearTimeout(late);
        runs.close();
      }
    });

  it('ends a demo at once although its robot hangs', { timeout: 2 * MS }, async () => {
    const runs = new Marked();
    const late = setTimeout(() => runs.close(), MS);
    try {
      const run = runs.start(['demo', '--headless']);
      await seen(run.out, /→ engaged/);
      const robot = runs.processes().find((pid) => / robot /.test(commandOf(pid)))!;
      process.kill(robot, 'SIGSTOP');
      run.kill('SIGINT');
      await sleep(APART_MS);
      run.kill('SIGINT');
      // After the first signal alone, it would kill the robot after five seconds and end with an exit code.
      assert.equal((await run.exited).signal, 'SIGINT');
      assert.ok(runs.processes().includes(robot), 'the robot has not been ended yet');
    } finally {
      clearTimeout(late);
      runs.close();
    }
  });
});

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
