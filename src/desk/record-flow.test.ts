import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeskRequest, Telemetry, WorldTelemetry } from '../messages/telemetry.ts';
import { RecordFlow } from './record-flow.ts';

type Outcome = WorldTelemetry['outcome'];

/** A recorder and a world that answer requests at once. */
class Bench {
  readonly sent: string[] = [];
  readonly flow = new RecordFlow((request) => this.#take(request));
  readonly saved: string[] = [];
  recording = false;
  seed = 1;
  elapsedS = 0;
  outcome: Outcome = 'running';
  hasWorld = true;

  step(elapsedS = 0.1): void {
    this.elapsedS += elapsedS;
    const world = { task: 'sort', seed: this.seed, elapsedS: this.elapsedS, outcome: this.outcome };
    const record = { state: this.recording ? 'recording' : 'idle', task: 'sort cubes' };
    this.flow.update({ record, world: this.hasWorld ? world : null } as unknown as Telemetry);
  }

  #take(request: DeskRequest): void {
    const { kind } = request;
    this.sent.push(kind === 'record' ? request.action : kind);
    if (request.kind === 'record' && request.action === 'start') this.recording = true;
    if (request.kind === 'record' && request.action === 'stop') this.saved.push(String(request.label));
    if (request.kind === 'record' && request.action !== 'start') this.recording = false;
    if (request.kind !== 'world') return;
    this.seed = request.seed ?? this.seed + 1;
    this.elapsedS = 0;
    this.outcome = 'running';
  }
}

describe('recording demonstrations one after another', () => {
  it('keeps with a label, and sets up the next round', () => {
    const bench = new Bench();
    bench.step();
    bench.flow.startOrKeep();
    bench.step(10);
    bench.flow.keep('failure');
    assert.deepEqual(bench.sent, ['start', 'stop', 'world']);
    assert.deepEqual([bench.saved, bench.seed, bench.flow.kept], [['failure'], 2, 1]);
  });

  it('redoes the same round and records it again', () => {
    const bench = new Bench();
    bench.step();
    bench.flow.start();
    bench.step(20);
    bench.flow.redo();
    assert.deepEqual([bench.seed, bench.elapsedS], [1, 0]);
    bench.step();
    assert.equal(bench.recording, true);
    assert.deepEqual([bench.saved, bench.flow.kept], [[], 0]);
  });

  it('records fifty rounds by itself: each kept once, by how it ended', () => {
    const bench = new Bench();
    bench.flow.repeats = true;
    for (let round = 0; round < 50; round++) {
      while (!bench.recording) bench.step();
      bench.step(25);
      bench.outcome = round % 5 === 4 ? 'late' : 'done';
      bench.step();
      bench.step();
    }
    assert.equal(bench.flow.kept, 50);
    assert.deepEqual(
      [bench.saved.filter((label) => label === 'success').length, bench.saved.length],
      [40, 50],
    );
  });

  it('does not record the rest of a round whose recording was discarded', () => {
    const bench = new Bench();
    bench.hasWorld = false;
    bench.flow.repeats = true;
    bench.step();
    assert.equal(bench.recording, false, 'without a world, nothing starts by itself');
    bench.flow.start();
    bench.step();
    bench.flow.discard();
    bench.step();
    assert.equal(bench.recording, false);
    assert.deepEqual(bench.sent, ['start', 'discard']);
  });

  it('keeps nothing that was not recorded', () => {
    const bench = new Bench();
    bench.step();
    bench.flow.keep('success');
    bench.flow.discard();
    assert.deepEqual([bench.sent, bench.flow.kept], [[], 0]);
  });

  it('names the task of the world, and leaves a name that a person gave', () => {
    const sent: (string | undefined)[] = [];
    const flow = new RecordFlow(
      (request) => {
        if (request.kind === 'record' && request.action === 'start') sent.push(request.task);
      },
      (task) => `do ${task}`,
    );
    const start = (task: string, named: string) => {
      const record = { state: 'idle', task: named };
      flow.update({ record, world: { task, outcome: 'running' } } as unknown as Telemetry);
      flow.start();
    };
    start('sort', '');
    start('stack', 'do sort');
    start('stack', 'my own words');
    assert.deepEqual(sent, ['do sort', 'do stack', 'my own words']);
  });
});
