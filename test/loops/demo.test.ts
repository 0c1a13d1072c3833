import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createReport, summaryOf, type TraceSummary } from '../../src/trace/report.ts';
import { SimulatedRig } from './simulated-rig.ts';

const SECONDS = 4;
const LINK_MS = 0.2;

/** The summary of `farhand demo --headless --json`, without processes. */
async function demo(playout: string, linkMs = LINK_MS): Promise<TraceSummary> {
  const rig = await SimulatedRig.create({ overrides: [`robot.playout=${playout}`], delayMs: linkMs });
  rig.runUntil(() => rig.state === 'engaged', 5000);
  rig.runFor(1000 * SECONDS);
  rig.windDown();
  const report = createReport();
  for (const record of rig.operator.closed) report.add(record);
  return summaryOf(report.finish());
}

function assertWhole(summary: TraceSummary): void {
  const { commands, applied, dropped, rejected, lost, late } = summary;
  assert.ok(commands >= 100 * SECONDS, `${commands} commands`);
  assert.equal(commands, applied + dropped + rejected + lost);
  assert.deepEqual([lost, late], [0, 0]);
  assert.ok(applied > 0.9 * commands, `${applied} of ${commands} applied`);
  for (const part of [summary.oneWayMs!, summary.variationMs!, ...Object.values(summary.segmentsMs)])
    if (part !== null) assert.ok(part.p50 <= part.p95 && part.p95 <= part.p99 && part.p99 <= part.max);
}

describe('the demo’s figures', () => {
  it('a constant delay applies to every command', async () => {
    const summary = await demo('fixed:60');
    assertWhole(summary);
    const { p50, max } = summary.oneWayMs!;
    assert.ok(p50 >= 60 && max < 61, `${p50} to ${max} ms`);
  });

  it('without a buffer a command is applied on arrival', async () => {
    const summary = await demo('none');
    assertWhole(summary);
    assert.ok(summary.oneWayMs!.max < LINK_MS + 0.1, `${summary.oneWayMs!.max} ms`);
  });

  it('adaptive playout finds a short delay on a link without jitter', async () => {
    const summary = await demo('adaptive');
    assertWhole(summary);
    assert.ok(summary.oneWayMs!.p50 < 25, `p50 ${summary.oneWayMs!.p50} ms`);
    assert.ok(summary.queueDepth!.max <= 3, `${summary.queueDepth!.max} waiting`);
  });

  it('a longer link shows only in the segment `wire`', async () => {
    const [near, far] = [await demo('none', 1), await demo('none', 31)];
    for (const [name, part] of Object.entries(far.segmentsMs)) {
      const moreMs = (part?.p50 ?? 0) - (near.segmentsMs[name as keyof typeof near.segmentsMs]?.p50 ?? 0);
      assert.ok(Math.abs(moreMs - (name === 'wire' ? 30 : 0)) < 0.01, `${name}: ${moreMs} ms more`);
    }
  });
});
