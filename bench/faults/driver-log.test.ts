import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { TickStatus } from '../../src/messages/robot-state.ts';
import { type Driver, emptyReading } from '../../src/robot/driver.ts';
import { LoggedDriver } from '../../src/robot/driver-log.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { readDriverLog } from './driver-log.ts';

/** Poisons its arguments as soon as the call returns. */
class HostileDriver implements Driver {
  fault = '';
  status: TickStatus = 'ok';
  enable(): TickStatus {
    return this.status;
  }
  read(nowNs: number, out: { robotNs: number; positionsRad: Float64Array }): TickStatus {
    out.robotNs = nowNs;
    out.positionsRad.fill(nowNs);
    return this.status;
  }
  write(): TickStatus {
    return this.status;
  }
  stop(): void {}
  dispose(): void {}
}

describe('log of a driver', () => {
  const folder = temporaryFolder('log');

  it('has every target with its time, and the pose in which the joints were powered', () => {
    const file = path.join(folder, 'a.log');
    const inner = new HostileDriver();
    const driver = new LoggedDriver(inner, file, 2);
    const target = Float64Array.of(0.5, -0.5);
    driver.read(1, emptyReading(2));
    driver.enable(2);
    driver.read(3, emptyReading(2));
    assert.equal(driver.write(4, target, 0), 'ok');
    target.fill(9);
    driver.write(5, target, 0);
    driver.stop(6);
    const { targets, readings, stopsNs } = readDriverLog(file, 2);
    assert.deepEqual(
      targets.map(({ atNs, jointsRad, fromRad }) => [atNs, [...jointsRad], fromRad && [...fromRad]]),
      [
        [4, [0.5, -0.5], [3, 3]],
        [5, [9, 9], null],
      ],
    );
    assert.deepEqual(
      readings.map(({ atNs }) => atNs),
      [1, 3],
    );
    assert.deepEqual(stopsNs, [6]);
  });

  it('repeats the last target in cycles without a write, while the joints are powered', () => {
    const file = path.join(folder, 'c.log');
    const driver = new LoggedDriver(new HostileDriver(), file, 1);
    driver.enable(1);
    driver.write(2, Float64Array.of(7), 0);
    for (const nowNs of [5, 10, 15]) driver.read(nowNs, emptyReading(1));
    driver.write(16, Float64Array.of(8), 0);
    driver.stop(17);
    for (const nowNs of [20, 25]) driver.read(nowNs, emptyReading(1));
    assert.deepEqual(
      readDriverLog(file, 1).targets.map(({ atNs, jointsRad }) => [atNs, jointsRad[0]]),
      [
        [2, 7],
        [5, 7],
        [10, 7],
        [16, 8],
      ],
    );
  });

  it('passes on the driver’s results and its fault', () => {
    const inner = new HostileDriver();
    const driver = new LoggedDriver(inner, path.join(folder, 'b.log'), 2);
    inner.status = 'fault';
    inner.fault = 'torn off';
    assert.deepEqual(
      [
        driver.enable(1),
        driver.read(1, emptyReading(2)),
        driver.write(1, new Float64Array(2), 0),
        driver.fault,
      ],
      ['fault', 'fault', 'fault', 'torn off'],
    );
    assert.deepEqual(
      readDriverLog(path.join(folder, 'b.log'), 2).readings,
      [],
      'a failed reading is not logged',
    );
  });
});
