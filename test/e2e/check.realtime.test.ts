import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { ECHO_BYTES, readEcho, writeEcho } from '../../src/check/echo-packet.ts';
import { openNamespaces } from '../../src/check/place.ts';
import { absent } from '../needs.ts';
import { PATIENCE } from '../patience.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { farhand, startFarhand } from './farhand.ts';

const dir = temporaryFolder();
function budget(name: string, limits: string): string {
  const file = path.join(dir, `${name}.yaml`);
  writeFileSync(file, `limits: {${limits}}\n`);
  return file;
}

interface Report {
  kind: string;
  ok: boolean;
  tracePath: string;
  summary: { commands: number; applied: number; lost: number };
  baseline: {
    udp: { sent: number; lost: number; oneWayMs: { p50: number } };
    tosThere: number;
    notes: string[];
  };
  budget: { verdicts: { limit: string; ok: boolean; measured: number; advice: string }[] };
}

async function check(...args: string[]): Promise<{ code: number | null; report: Report; stderr: string }> {
  const own = ['--settle', '0.5', '--json', `trace.dir=${dir}`, ...PATIENCE];
  const run = await farhand(['check', ...args, ...own], 110_000);
  assert.notEqual(run.stdout, '', run.stderr);
  return { code: run.code, report: JSON.parse(run.stdout) as Report, stderr: run.stderr };
}

// Each run starts four processes, waits for them and measures: up to two minutes on a busy machine.
describe('farhand check', { concurrency: 2, timeout: 120_000 }, () => {
  it('measures the loop and an echo, meets a generous budget, and writes the report beside the trace', async () => {
    const roomy = budget(
      'roomy',
      'oneWayP99Ms: 5000, lossPercent: 90, appliedPercent: 1, commandsPerS: 1, holds: 1000',
    );
    const { code, report } = await check('local', '--duration', '2', '--budget', roomy);
    assert.equal(code, 0, JSON.stringify(report.budget));
    assert.ok(report.ok && report.summary.commands >= 20, `${report.summary.commands}`);
    const { udp, tosThere } = report.baseline;
    assert.ok(udp.sent >= 20 && udp.lost < udp.sent / 2);
    assert.equal(tosThere, 0xb8, 'probes have the link’s DSCP mark');
    const stem = report.tracePath.replace(/\.jsonl$/, '');
    assert.deepEqual(JSON.parse(readFileSync(`${stem}.check.json`, 'utf8')), report);
    assert.match(
      readFileSync(`${stem}.check.txt`, 'utf8'),
      /Probes {4}UDP echo: p50[\s\S]*Budget {4}.*: all limits met/,
    );
  });

  it('fails over a bad link if a limit is exceeded, with limit, value and advice', async () => {
    const strict = budget('strict', 'oneWayP50Ms: 5, appliedPercent: 1');
    const { code, report } = await check('profile:wan', '--duration', '1', '--budget', strict);
    assert.equal(code, 1);
    const of = (name: string) =>
      report.budget.verdicts.find(({ limit }: { limit: string }) => limit === name);
    const [exceeded, met] = [of('oneWayP50Ms'), of('appliedPercent')];
    assert.deepEqual([exceeded?.ok, met?.ok], [false, true]);
    assert.ok(exceeded!.measured > 30, `${exceeded!.measured} ms over a link of 40 ms`);
    assert.match(exceeded!.advice, /Most of it is (wire|playout)/);
    assert.ok(report.baseline.udp.oneWayMs.p50 > 30, 'the probes take the same link');
  });

  it('measures between network namespaces', async (t) => {
    const place = openNamespaces();
    if (typeof place === 'string') return t.skip(absent('network namespaces', place, false));
    place.close();
    const roomy = budget(
      'wired',
      'oneWayP99Ms: 5000, clockUncertaintyMs: 1000, appliedPercent: 1, holds: 1000',
    );
    const { code, report } = await check('wired', '--duration', '1', '--budget', roomy);
    assert.equal(code, 0, JSON.stringify(report.budget));
    assert.ok(report.summary.applied > 10);
  });

  it('ends everything on Ctrl-C and reports an invalid measurement', async () => {
    const run = startFarhand(['check', 'local', `trace.dir=${dir}`, '--no-baseline']);
    try {
      const isSettling = () => run.stderr().includes('settling');
      await until('settling', isSettling, run.stderr, 90_000);
    } catch (error) {
      await run.end();
      throw error;
    }
    run.process.kill('SIGINT');
    assert.equal(await run.exited, 1, run.stderr());
    assert.match(run.stdout(), /not a valid measurement/);
  });
});

describe('farhand doctor', () => {
  it('checks this machine and the path to an echo', async () => {
    const echo = startFarhand(['check', 'echo', '--echo-port', '0']);
    const [, port] = await echo.waitFor(/127\.0\.0\.1:(\d+)/);
    const args = ['doctor', '--json', '--robot', '127.0.0.1', '--echo-port', port!];
    const { code, stdout, stderr } = await farhand(args);
    await echo.end();
    const findings = JSON.parse(stdout) as { name: string; verdict: string; why: string; fix: string }[];
    assert.equal(code, findings.some(({ verdict }) => verdict === 'bad') ? 1 : 0, stderr);
    const verdictOf = (name: string) => findings.find((finding) => finding.name === name)?.verdict;
    assert.equal(verdictOf('DSCP'), 'good', 'marked there and back on loopback');
    assert.equal(verdictOf('clock synchronization'), 'good');
    for (const { name, verdict, why, fix } of findings)
      assert.ok(verdict === 'good' || (why !== '' && fix !== ''), name);
  });
});

describe('farhand check echo', () => {
  it('answers only probes, with its stamps and the mark it saw', async () => {
    const run = startFarhand(['check', 'echo', '--echo-port', '0']);
    const [, port] = await run.waitFor(/127\.0\.0\.1:(\d+)/);
    const socket = createSocket('udp4');
    const answers: Buffer[] = [];
    socket.on('message', (bytes) => answers.push(bytes));
    const probe = new Uint8Array(ECHO_BYTES);
    writeEcho('probe', { seq: 9, t0Ns: 123, t1Ns: 0, t2Ns: 0, tos: -1 }, probe);
    const answerLike = new Uint8Array(ECHO_BYTES);
    writeEcho('answer', { seq: 9, t0Ns: 123, t1Ns: 0, t2Ns: 0, tos: -1 }, answerLike);
    const hostile = [probe.subarray(0, 199), new Uint8Array(ECHO_BYTES), answerLike, new Uint8Array(1400)];
    for (const bytes of [...hostile, probe]) socket.send(bytes, Number(port), '127.0.0.1');
    await until('an answer', () => answers.length > 0);
    assert.equal(answers.length, 1);
    const answer = readEcho('answer', answers[0]!, answers[0]!.length)!;
    assert.deepEqual([answer.seq, answer.t0Ns, answer.tos], [9, 123, 0]);
    assert.ok(answer.t1Ns > 0 && answer.t2Ns >= answer.t1Ns);
    socket.close();
    await run.end();
    assert.match(run.stdout(), /1 answered, 4 ignored/);
  });
});
