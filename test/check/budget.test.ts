import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { judgeBudget, loadBudget } from '../../src/check/budget.ts';
import { FIGURES } from '../../src/check/figures.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { yamlNames } from '../../src/files/yaml-files.ts';
import type { TraceRecord } from '../../src/messages/trace-record.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { measured, records } from './records.ts';

const folder = temporaryFolder('budget');
let files = 0;
function budgetFile(text: string): string {
  const file = path.join(folder, `${files++}.yaml`);
  writeFileSync(file, text);
  return file;
}
const rejection = (text: string, seconds = 60) => {
  try {
    loadBudget(budgetFile(text), 'local', seconds);
  } catch (error) {
    assert.ok(error instanceof TeleopError);
    return `${error.code}: ${error.message} → ${error.hint}`;
  }
  return 'accepted';
};

/** Clocks known exactly. */
const exact = (run: TraceRecord[]) => run.map((record) => ({ ...record, uncertaintyNs: 0 }));

describe('budgets', () => {
  it('are shipped for every kind of check', () => {
    assert.deepEqual(yamlNames('budgets'), ['local', 'profile', 'wired', 'wireless']);
    for (const kind of ['local', 'wired', 'wireless', 'profile:wan']) {
      const { limits, notJudged } = loadBudget(null, kind, 60);
      assert.ok(Object.keys(limits).length >= 5 && notJudged.length === 0, kind);
    }
  });

  it('a limit that a short run cannot judge is left out of a shipped budget and rejected in a user’s', () => {
    const short = loadBudget(null, 'local', 4);
    assert.deepEqual(short.notJudged, ['badWindows']);
    assert.ok(!('badWindows' in short.limits));
    assert.match(
      rejection('limits: {badWindows: 0}', 4),
      /bad-option: .*badWindows.*4 s → Measure for at least 12 s/,
    );
    assert.equal(rejection('limits: {badWindows: 0}', 12), 'accepted');
  });

  it('reject unknown or invalid limits, and suggest the nearest name', () => {
    assert.match(rejection('limits: {oneWayP99: 5}'), /unknown setting "limits.oneWayP99" .*"oneWayP99Ms"/);
    assert.match(rejection('limts: {}'), /unknown setting "limts".*"limits"/);
    assert.match(rejection('limits: {lossPercent: -1}'), /"limits.lossPercent" is not valid/);
    assert.match(rejection('limits: {lossPercent: few}'), /"limits.lossPercent" is not valid/);
    assert.match(rejection('limits: ['), /file-unreadable/);
    assert.throws(() => loadBudget('/nowhere.yaml', 'local', 60), /does not exist/);
  });

  it('a value equal to its limit meets it, the smallest excess does not', () => {
    const run = measured(exact(records(300)));
    const verdict = (limit: string, allowed: number) =>
      judgeBudget({ name: '', about: '', limits: { [limit]: allowed }, notJudged: [] }, run)[0]!;
    assert.equal(verdict('oneWayP99Ms', 3.4).ok, true);
    const broken = verdict('oneWayP99Ms', 3.399);
    assert.deepEqual([broken.ok, broken.measured, broken.allowed], [false, 3.4, 3.399]);
    assert.match(broken.advice, /playout/);
    assert.equal(verdict('appliedPercent', 100).ok, true);
    assert.equal(verdict('commandsPerS', 101).ok, false, 'a minimum is not met');
    assert.deepEqual(
      [verdict('badWindows', 5).ok, verdict('badWindows', 5).measured],
      [false, null],
      'a figure that was not measured fails',
    );
  });

  it('are not judged where the clocks are not known well enough, and say between what the figure lies', () => {
    // 2 ms there and 30 ms back: an exchange takes the middle, 16 ms, for the wire.
    const run = measured(
      records(1300, () => ({ wireMs: 16 })).map((record) => ({ ...record, uncertaintyNs: 16e6 })),
    );
    const verdict = (limit: string, allowed: number) =>
      judgeBudget({ name: '', about: '', limits: { [limit]: allowed }, notJudged: [] }, run)[0]!;
    for (const [limit, allowed] of [
      ['wireP99Ms', 3],
      ['wireP99Ms', 20],
      ['oneWayP50Ms', 30],
      ['wireBadWindows', 0],
    ] as const) {
      const { ok, withheld, advice } = verdict(limit, allowed);
      assert.ok(ok && withheld !== null && withheld[0] <= allowed && withheld[1] > allowed, limit);
      assert.match(advice, /common clock/);
    }
    assert.deepEqual(verdict('wireP99Ms', 3).withheld, [0, 32]);
    const far = verdict('oneWayP50Ms', 1);
    assert.deepEqual([far.ok, far.withheld], [false, null], 'exceeded, however the path is divided');
    assert.deepEqual([verdict('wireP99Ms', 40).ok, verdict('wireP99Ms', 40).withheld], [true, null]);
    assert.equal(verdict('variationP99Ms', 5).withheld, null, 'an offset does not affect the variation');
  });

  it('have advice for every limit, on a good run and on an empty one', () => {
    for (const run of [measured(records(1300)), measured([])])
      for (const [name, { advice, about }] of Object.entries(FIGURES))
        assert.ok(advice(run).length > 20 && about.length > 5, name);
  });

  it('have null figures, not zero, if no command was applied', () => {
    const nothing = measured(records(200, () => ({ outcome: 'lost' })));
    assert.equal(FIGURES['oneWayP99Ms']!.of(nothing), null);
    assert.equal(FIGURES['transitP99Ms']!.of(nothing), null);
    assert.equal(FIGURES['lossPercent']!.of(nothing), 100);
    assert.equal(FIGURES['lossPercent']!.of(measured([])), null);
  });
});

describe('docs/check.md', () => {
  it('has a row for every limit', () => {
    const rows = readFileSync('docs/check.md', 'utf8').matchAll(/^\| `(\w+)` \| at (?:most|least) \|/gm);
    assert.deepEqual(
      [...rows].map((row) => row[1]!),
      Object.keys(FIGURES),
    );
  });
});
