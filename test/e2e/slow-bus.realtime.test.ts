import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { OUTCOMES, SEGMENTS } from '../../src/messages/trace-record.ts';
import { readTraceParts } from '../../src/trace/read-file.ts';
import { oneWayNs, segmentsNs } from '../../src/trace/segments.ts';
import { PATIENCE } from '../patience.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand } from './farhand.ts';

const WRITE_MS = 20;
const REACHED: ReadonlySet<string> = new Set(['applied', 'late']);

interface Report {
  tracePath: string;
  budget: { verdicts: { limit: string; ok: boolean; measured: number; advice: string }[] };
}

describe('a driver thread whose writes block', { timeout: 120_000 }, () => {
  it('has that time in `apply` of every command, and the check names the bus', async () => {
    const folder = temporaryFolder();
    const budget = path.join(folder, 'budget.yaml');
    writeFileSync(budget, 'limits: {applyP99Ms: 5}\n');
    const settings = [`robot.options.writeMs=${WRITE_MS}`, `trace.dir=${folder}`, ...PATIENCE];
    const words = ['--duration', '2', '--settle', '0.5', '--no-baseline', '--json', '--budget', budget];
    const { code, stdout, stderr } = await farhand(['check', 'local', ...words, ...settings], 110_000);
    assert.equal(code, 1, stderr);
    const report = JSON.parse(stdout) as Report;
    const verdict = report.budget.verdicts.find(({ limit }) => limit === 'applyP99Ms');
    assert.ok(verdict!.measured >= WRITE_MS, `${verdict!.measured} ms`);
    assert.match(verdict!.advice, /check its bus/);

    const segments = new Float64Array(SEGMENTS.length);
    let applied = 0;
    await readTraceParts(report.tracePath, (record) => {
      if (!REACHED.has(OUTCOMES[record.outcome]!)) return;
      applied++;
      segmentsNs(record, segments);
      const applyNs = segments[SEGMENTS.indexOf('apply')]!;
      assert.ok(applyNs >= WRITE_MS * 1e6, `${applyNs} ns`);
      if (Number.isNaN(record.offsetNs)) return;
      assert.equal(
        segments.reduce((sum, ns) => sum + ns),
        oneWayNs(record),
      );
    });
    assert.ok(applied > 10, `${applied} applied`);
    const text = await farhand(['trace', 'report', report.tracePath]);
    const [, p50] = /Robot apply\s+([\d.]+)/.exec(text.stdout) ?? [];
    assert.ok(Number(p50) >= WRITE_MS, text.stdout);
  });
});
