import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FLIGHT, FlightRecorder } from './flight-recorder.ts';
import { Bench, HostileDriver, MS } from './supervisor.test.bench.ts';

function numbered(joints: number, n: number): Float64Array {
  const record = FLIGHT.create(joints);
  record.packed.fill(0.5);
  record.robotNs = n;
  record.state = 'engaged';
  record.limitedBy = 'collision';
  record.commandNs = Number.NaN;
  return record.packed;
}

const stamps = (recorder: FlightRecorder, slab: number) => recorder.read(slab).map(({ robotNs }) => robotNs);

describe('flight recorder', () => {
  it('keeps the newest records, oldest first, readable through shared memory', () => {
    const recorder = FlightRecorder.create(2, 5);
    const scratch = numbered(2, 0);
    for (let n = 1; n <= 8; n++) {
      scratch[0] = n;
      recorder.write(scratch);
    }
    scratch.fill(-1);
    const reader = new FlightRecorder(recorder.buffer);
    assert.deepEqual(stamps(reader, reader.active), [4, 5, 6, 7, 8]);
    const [first] = reader.read(reader.active);
    assert.deepEqual(
      [first!['state'], first!['limitedBy'], first!['commandNs']],
      ['engaged', 'collision', null],
    );
    assert.deepEqual(first!['measuredRad'], [0.5, 0.5]);
    // These are the keys of a flight file.
    const keys =
      'robotNs state limitedBy epoch engagement seq commandNs acceptedNs readingNs clearanceM gripper';
    const arrays = 'goalRad targetRad targetRadS measuredRad measuredRadS';
    assert.deepEqual(Object.keys(first!), `${keys} ${arrays}`.split(' '));
  });

  it('hands out a frozen slab, continues in another, and never waits for its reader', () => {
    const recorder = FlightRecorder.create(1, 4);
    const frozen: number[] = [];
    for (let n = 1; n <= 4; n++) {
      recorder.write(numbered(1, n));
      frozen.push(recorder.freeze());
    }
    assert.deepEqual(frozen.slice(0, 3), [0, 1, 2]);
    assert.deepEqual([frozen[3], recorder.skipped], [-1, 1]);
    recorder.write(numbered(1, 5));
    assert.deepEqual(stamps(recorder, 0), [1]);
    assert.deepEqual(stamps(recorder, recorder.active), [4, 5]);
    recorder.release(0);
    assert.equal(recorder.freeze(), 3);
    assert.deepEqual(stamps(recorder, recorder.active), []);
    recorder.release(recorder.active);
    assert.equal(recorder.active, 0, 'the slab in use cannot be released');
  });
});

describe('supervisor’s flight record', () => {
  it('is kept whenever the arm holds or stops, except for an orderly shutdown', () => {
    const kept = (bench: Bench) => bench.transitions.at(-1)!.flight >= 0;
    const engaged = () => {
      const bench = new Bench().bring('engaged');
      for (let i = 0; i < 10; i++) {
        bench.tick(5);
        bench.send({}, [0.01 * i, 0]);
      }
      return bench;
    };
    const events: [string, boolean, (bench: Bench) => void][] = [
      ['e-stop', true, (b) => b.supervisor.estop('test', b.nowNs)],
      ['silence', true, (b) => b.tick(150)],
      ['tracking', true, (b) => void b.send({ tracking: false })],
      ['release', true, (b) => void b.send({ engagement: 0 })],
      ['lost operator', true, (b) => b.supervisor.operatorLost(b.nowNs)],
      ['goodbye', false, (b) => b.supervisor.operatorLeft(b.nowNs)],
      ['disarm', false, (b) => b.supervisor.disarm(b.nowNs)],
      ['orderly shutdown', false, (b) => b.supervisor.shutDown('test', b.nowNs)],
      [
        'fault',
        true,
        (b) => {
          b.driver.writeStatus = 'fault';
          b.tick();
          b.send({}, [0.2, 0]);
        },
      ],
    ];
    for (const [name, wanted, happen] of events) {
      const bench = engaged();
      happen(bench);
      assert.equal(kept(bench), wanted, name);
    }
  });

  it('contains goal, target, measured joints and the active limit, up to the stop', () => {
    const driver = new HostileDriver();
    const bench = new Bench(driver).bring('engaged');
    for (let i = 0; i < 500; i++) {
      bench.tick(5);
      bench.send({}, [2.5, 0]);
    }
    bench.supervisor.estop('red button', bench.nowNs);
    const { flight, cause } = bench.transitions.at(-1)!;
    assert.equal(cause, 'red button');
    const records = bench.flights.read(flight);
    assert.equal(records.length, 400);
    const last = records.at(-1)!;
    assert.equal(last['robotNs'], bench.nowNs);
    assert.equal(last['seq'], bench.seq - 1, 'the command after the last cycle is not in it');
    assert.deepEqual(last['goalRad'], [2.5, 0]);
    assert.equal((last['commandNs'] as number) % (5 * MS), 0);
    assert.ok(records.some(({ limitedBy }) => limitedBy === 'velocity'));
  });
});
