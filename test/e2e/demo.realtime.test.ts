import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { Percentiles } from '../../src/core/statistics/percentiles.ts';
import { SEGMENTS } from '../../src/messages/trace-record.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand, startFarhand } from './farhand.ts';

interface Summary {
  commands: number;
  applied: number;
  late: number;
  dropped: number;
  rejected: number;
  lost: number;
  oneWayMs: Percentiles;
  variationMs: Percentiles;
  segmentsMs: Record<string, Percentiles>;
  playoutDelayMs: Percentiles;
  queueDepth: Percentiles;
  tracePath: string;
  roles: {
    role: string;
    stallsOver20Ms: number;
    wakeLatenessMs: Percentiles;
    counters: Record<string, number>;
  }[];
}

async function headless(...overrides: string[]): Promise<Summary> {
  const dir = temporaryFolder();
  const args = ['demo', '--headless', '--duration', '1.5', '--json', `trace.dir=${dir}`, ...overrides];
  const { code, stdout, stderr } = await farhand(args);
  assert.equal(code, 0, stderr);
  const lines = stdout.trim().split('\n');
  assert.equal(lines.length, 1, 'only one summary line');
  return JSON.parse(lines[0]!) as Summary;
}

/** test/loops/demo.test.ts checks the figures in simulated time. */
function checkSummary(summary: Summary): void {
  assert.ok(summary.commands > 20, `${summary.commands} commands`);
  assert.equal(summary.lost, 0, 'every receipt arrived on loopback');
  assert.equal(summary.commands, summary.applied + summary.dropped + summary.rejected + summary.lost);
  assert.deepEqual(Object.keys(summary.segmentsMs), [...SEGMENTS]);
  assert.deepEqual(
    summary.roles.map((role) => role.role),
    ['operator', 'robot'],
  );
}

describe('demo, headless', () => {
  it('plays out at a fixed delay and traces every command', async () => {
    const summary = await headless('robot.playout=fixed:60');
    checkSummary(summary);
    assert.ok(summary.oneWayMs.p50 >= 60, `p50 ${summary.oneWayMs.p50}`);
    const lines = readFileSync(summary.tracePath, 'utf8').trim().split('\n');
    const seqs = lines
      .map((line) => JSON.parse(line) as { kind: string; seq: number })
      .filter((line) => line.kind === 'teleop_cmd');
    assert.equal(new Set(seqs.map((line) => line.seq)).size, summary.commands, 'one line per command');
    const report = await farhand(['trace', 'report', summary.tracePath, '--json']);
    assert.equal(report.code, 0);
    assert.deepEqual(
      (JSON.parse(report.stdout) as Summary).oneWayMs,
      summary.oneWayMs,
      'the report has the same figures',
    );
    const table = await farhand(['trace', 'report', summary.tracePath]);
    assert.match(table.stdout, /End to end .*sampled → applied/);
  });

  it('puts an emulated link between the roles', async () => {
    const dir = temporaryFolder();
    const args = ['demo', '--headless', '--duration', '1.5', '--json', '--link', 'wan', `trace.dir=${dir}`];
    const { code, stdout, stderr } = await farhand([...args, 'robot.playout=none']);
    assert.equal(code, 0, stderr);
    const summary = JSON.parse(stdout) as Summary & { link: { forward: { forwarded: number } } };
    assert.ok(summary.segmentsMs['wire']!.p50 > 20, `${summary.segmentsMs['wire']!.p50} ms on the wire`);
    assert.ok(summary.link.forward.forwarded > 20);
  });

  it('runs without native sockets, and the trace records it', async () => {
    const summary = await headless('link.reactor=dgram', 'robot.playout=none');
    checkSummary(summary);
    const header = JSON.parse(readFileSync(summary.tracePath, 'utf8').split('\n')[0]!) as {
      stamp_source: string;
    };
    assert.equal(header.stamp_source, 'userspace');
  });

  it('runs the same stages over ZeroMQ, with CURVE', async () => {
    const summary = await headless('link.transport=zmq', 'robot.playout=none');
    checkSummary(summary);
  });

  it('ends its processes on Ctrl-C and keeps the trace', async () => {
    const dir = temporaryFolder();
    const demo = startFarhand(['demo', '--headless', `trace.dir=${dir}`], true);
    await demo.waitFor(/armed → engaged/);
    process.kill(-demo.process.pid!, 'SIGINT');
    assert.equal(await demo.exited, 0, demo.stderr());
    assert.match(demo.stdout(), /engaged → hold \(clutch released\)[\s\S]*operator left/, 'in order');
    assert.match(demo.stdout(), /\d+ commands, \d+ applied, \d+ late, \d+ dropped, 0 lost/);
    const files = readdirSync(dir).sort();
    assert.equal(files.length, 2, 'the trace, and the flight record of the last seconds');
    assert.match(files[0]!, /^flight-.*-hold\.jsonl$/);
    assert.match(
      readFileSync(path.join(dir, files[1]!), 'utf8').trim().split('\n').pop()!,
      /"kind":"footer"/,
    );
  });

  it('ends with exit code 1 if a role dies during a measurement', async () => {
    const demo = startFarhand(['demo', '--headless', '--duration', '20', `trace.dir=${temporaryFolder()}`]);
    await demo.waitFor(/armed → engaged/);
    const children = readFileSync(`/proc/${demo.process.pid}/task/${demo.process.pid}/children`, 'utf8')
      .trim()
      .split(' ');
    const robot = children
      .map(Number)
      .find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0robot\0'));
    process.kill(robot!, 'SIGKILL');
    assert.equal(await demo.exited, 1);
    assert.match(demo.stderr(), /the robot process ended/);
  });
});
