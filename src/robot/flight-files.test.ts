import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { byAge, FlightFiles } from './flight-files.ts';
import { FLIGHT, FlightRecorder } from './supervisor/flight-recorder.ts';

const stop = { robotNs: 5, from: 'engaged', to: 'stopped', cause: 'e-stop pressed' };

function setUp(dir: string): { recorder: FlightRecorder; files: FlightFiles; fly: () => void } {
  const recorder = FlightRecorder.create(6, 10);
  const place = { dir, rig: 'demo', model: 'ur3', joints: ['1', '2', '3', '4', '5', '6'], controlHz: 200 };
  const record = FLIGHT.create(6);
  const fly = () => {
    record.robotNs += 1;
    recorder.write(record.packed);
  };
  return { recorder, files: new FlightFiles(place, recorder.buffer, () => new Date()), fly };
}

const folder = () => temporaryFolder('flight');
const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** The last cycle shows when a file was written. */
const lastCycle = (dir: string, name: string) => linesOf(path.join(dir, name)).at(-1)!['robotNs'] as number;

describe('flight files', () => {
  it('keep the newest of one millisecond, with names that sort by age', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 1) });
    const dir = folder();
    const { recorder, files, fly } = setUp(dir);
    const COUNT = 130;
    for (let n = 0; n < COUNT; n++) {
      fly();
      files.onTransition({ ...stop, flight: recorder.freeze() });
    }
    const names = readdirSync(dir).sort();
    const cycles = names.map((name) => lastCycle(dir, name));
    assert.deepEqual(
      cycles,
      Array.from({ length: 20 }, (_, i) => COUNT - 19 + i),
    );
  });

  it('of older versions count as older, whatever their numbers', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 1) });
    const dir = folder();
    const old = ['', '-2', '-3', '-9', '-10', '-11', '-100'].map(
      (number) => `flight-20260101-000000000${number}-stopped.jsonl`,
    );
    assert.deepEqual([...old].reverse().sort(byAge), old);
    for (const name of old) writeFileSync(path.join(dir, name), '');
    const { recorder, files, fly } = setUp(dir);
    for (let n = 0; n < 18; n++) {
      fly();
      files.onTransition({ ...stop, flight: recorder.freeze() });
    }
    const names = readdirSync(dir);
    assert.equal(names.length, 20);
    assert.deepEqual(
      old.map((name) => names.includes(name)),
      [false, false, false, false, false, true, true],
    );
  });

  it('keep the newest also when the wall clock was set back', (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 1) });
    const dir = folder();
    for (let n = 10; n < 30; n++) writeFileSync(path.join(dir, `flight-203001${n}-000000000-hold.jsonl`), '');
    const { recorder, files, fly } = setUp(dir);
    fly();
    files.onTransition({ ...stop, to: 'hold', flight: recorder.freeze() });
    const names = readdirSync(dir);
    assert.equal(names.length, 20);
    assert.ok(names.some((name) => name.startsWith('flight-20260101-')));
  });

  it('hold the cause and the cycles before it, and free the recorder for the next', () => {
    const dir = folder();
    const { recorder, files, fly } = setUp(dir);
    for (let n = 0; n < 12; n++) {
      fly();
      files.onTransition({ ...stop, flight: recorder.freeze() });
    }
    assert.equal(recorder.skipped, 0);
    files.onTransition({ ...stop, flight: -1 });
    const names = readdirSync(dir);
    assert.equal(names.length, 12);
    const [about, cycle, ...more] = linesOf(path.join(dir, names.sort()[0]!));
    assert.deepEqual(
      [about!['format'], about!['cause'], about!['to']],
      ['farhand-flight/1', stop.cause, 'stopped'],
    );
    assert.equal((about!['joints'] as string[]).length, 6);
    assert.equal(cycle!['robotNs'], 1);
    assert.equal(more.length, 0);
    const cyclesOf = (name: string) => linesOf(path.join(dir, name)).slice(1);
    const stamps = names.map((name) => cyclesOf(name).map(({ robotNs }) => robotNs as number));
    const byLast = stamps.sort((a, b) => a.at(-1)! - b.at(-1)!);
    assert.deepEqual(byLast[2], [1, 2, 3], 'includes cycles of an earlier file');
    assert.deepEqual(byLast[11], [3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 'at most two seconds');
  });

  it('keep the newest twenty holds and twenty others, and touch nothing else in the folder', () => {
    const dir = folder();
    writeFileSync(path.join(dir, 'robot_trace_20260101-000000_00000001.jsonl'), '');
    writeFileSync(path.join(dir, 'flight-19990101-000000000-stopped.jsonl'), '');
    const { recorder, files, fly } = setUp(dir);
    for (let n = 0; n < 25; n++) {
      fly();
      files.onTransition({ ...stop, flight: recorder.freeze() });
    }
    for (let n = 0; n < 25; n++) {
      fly();
      files.onTransition({ ...stop, to: 'hold', flight: recorder.freeze() });
    }
    const names = readdirSync(dir);
    assert.equal(names.filter((name) => name.endsWith('-stopped.jsonl')).length, 20);
    assert.equal(names.filter((name) => name.endsWith('-hold.jsonl')).length, 20);
    assert.ok(!names.includes('flight-19990101-000000000-stopped.jsonl'));
    assert.equal(names.length, 41);
  });

  it('record a dead control thread once, from the cycles left in memory', () => {
    const dir = folder();
    const { files, fly } = setUp(dir);
    files.onFailure('Error: before the first cycle');
    assert.deepEqual(readdirSync(dir), []);
    const { files: later, fly: cycle } = setUp(dir);
    for (let n = 0; n < 30; n++) cycle();
    later.onFailure('Error: a bug');
    later.onFailure('Error: the same again');
    fly();
    const [name, ...others] = readdirSync(dir);
    assert.equal(others.length, 0);
    const lines = linesOf(path.join(dir, name!));
    assert.equal(lines[0]!['cause'], 'Error: a bug');
    assert.equal(lines.length, 11);
  });

  it('do no harm when they cannot be written or are disabled', () => {
    const file = path.join(folder(), 'not-a-folder');
    writeFileSync(file, '');
    for (const dir of [file, '']) {
      const { recorder, files, fly } = setUp(dir);
      fly();
      assert.doesNotThrow(() => files.onTransition({ ...stop, flight: recorder.freeze() }));
    }
  });
});
