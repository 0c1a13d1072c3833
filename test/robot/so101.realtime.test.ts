import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { packageRoot } from '../../src/files/package-root.ts';
import { JointsSink } from '../../src/leader/joints-sink.ts';
import { Leader } from '../../src/leader/leader.ts';
import { feetechLeader } from '../../src/leader/leader-motors.ts';
import { ServoLine } from '../../src/leader/servo-line.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { FEETECH_STS } from '../../src/robot/buses/feetech/feetech-scs.ts';
import { serialLine } from '../../src/robot/buses/serial-line.ts';
import { ServoBus } from '../../src/robot/buses/servo/servo-bus.ts';
import { emptyReading } from '../../src/robot/driver.ts';
import { IDS, storedCalibration } from '../../src/robot/drivers/so101/prepare.ts';
import { type SimProcess, startSimProcess } from '../contract/sim-process.ts';
import { Lifetime } from '../lifetime.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { FeetechServos } from './feetech-servos.ts';

const model = loadModel('so101');
const run = promisify(execFile);

describe('an SO-101', { skip: needs('Linux') }, () => {
  const life = new Lifetime();
  afterEach(() => life.end());

  const start = async (...args: string[]): Promise<{ sim: SimProcess; port: string; folder: string }> => {
    const folder = temporaryFolder('so101');
    const port = path.join(folder, 'tty');
    const sim = await startSimProcess(['so101', '--port', port, ...args]);
    life.own(sim, (each) => each.stop());
    return { sim, port, folder };
  };
  const openDriver = async (options: Record<string, unknown>) => {
    const plugin = await loadPlugin('driver', 'so101');
    const driver = await plugin.open(pluginConfig('driver', 'so101', plugin, options), model, monotonicClock);
    return life.own(driver, (each) => each.dispose());
  };
  const calibrate = (...args: string[]) =>
    run(process.execPath, [path.join(packageRoot, 'bin', 'farhand'), 'calibrate', 'so101', ...args]);

  it('reads each servo’s own calibration although a reply comes after its time', async () => {
    const servos = life.own(await FeetechServos.start(IDS), (each) => each.close());
    for (const [id, table] of servos.tables) {
      const view = new DataView(table.buffer);
      const values = [3, 777, 9, 100 * id, 11, 4000 - 100 * id, 31, 10 * id];
      for (let i = 0; i < values.length; i += 2) view.setUint16(values[i]!, values[i + 1]!, true);
    }
    const line = serialLine(servos.port, 1_000_000);
    const bus = life.own(await ServoBus.open(line, FEETECH_STS, monotonicClock), (each) => each.close());
    for (const lateMs of [0, 45, 60, 100]) {
      // The requests of this time are answered after it, while others wait.
      servos.areLate = true;
      const reading = storedCalibration(bus);
      await sleep(lateMs);
      servos.areLate = false;
      assert.deepEqual(
        (await reading).map((each) => [each.range_min, each.range_max, each.homing_offset]),
        IDS.map((id) => [100 * id, 4000 - 100 * id, 10 * id]),
      );
    }
  });

  it('writes LeRobot’s calibration, takes it back, and rejects another arm’s', async () => {
    const { port, folder } = await start();
    const file = path.join(folder, 'arm.json');
    await calibrate('--port', port, '--file', file);
    const found = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, number>>;
    assert.deepEqual(Object.keys(found), [...model.joints.map(({ name }) => name), 'gripper']);
    assert.deepEqual(found['gripper'], {
      id: 6,
      drive_mode: 0,
      homing_offset: 0,
      range_min: 2000,
      range_max: 3400,
    });
    found['elbow_flex']!['homing_offset'] = -300;
    const other = path.join(folder, 'other.json');
    writeFileSync(other, JSON.stringify(found));
    await assert.rejects(
      () => openDriver({ port, calibrationFile: other }),
      (error) => error instanceof TeleopError && error.code === 'not-calibrated',
    );
    await calibrate('--port', port, '--file', other, '--apply');
    await openDriver({ port, calibrationFile: other });
  });

  it('reports the gripper’s effort and a hot servo', async () => {
    const { sim, port } = await start();
    const driver = await openDriver({ port });
    const reading = emptyReading(5);
    const cycles = async (ms: number, gripper: number | null) => {
      for (let t = 0; t < ms; t += 5) {
        const nowNs = monotonicClock.nowNs();
        if (driver.read(nowNs, reading) === 'ok' && gripper !== null)
          driver.write(nowNs, reading.positionsRad, gripper);
        await sleep(5);
      }
    };
    for (let i = 0; i < 400 && driver.enable(monotonicClock.nowNs()) === 'stale'; i++) await cycles(10, null);
    for (let i = 0; i < 40 && Math.abs(reading.gripper - 0.1) > 0.02; i++) await cycles(50, 0.1);
    const freeN = reading.gripperN;
    sim.child.send('hold');
    const isHeld = () => reading.gripperN > 5 && Math.abs(reading.gripper - 0.5) < 0.02;
    for (let i = 0; i < 40 && !isHeld(); i++) await cycles(50, 1);
    assert.ok(reading.gripperN > 5 && freeN < 2, `${freeN} N free, ${reading.gripperN} N on something`);
    assert.ok(Math.abs(reading.gripper - 0.5) < 0.02, `held at ${reading.gripper}`);
    sim.child.send('heat');
    for (let i = 0; i < 40 && driver.fault === ''; i++) await cycles(50, 1);
    assert.match(driver.fault, /elbow_flex is at 80 °C/);
  });

  it('as a leader, sends its joints one to one', async () => {
    const { port } = await start('--sway', '20');
    const socket = createSocket('udp4');
    life.own(socket, (each) => each.close());
    const seen: number[] = [];
    socket.on('message', (bytes) => {
      const { jointsRad } = JSON.parse(bytes.toString()) as { jointsRad: number[] };
      seen.push(jointsRad[0]!);
      for (const rad of jointsRad.slice(1)) assert.ok(Math.abs(rad) < 0.01, `${jointsRad}`);
    });
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const gripper = { openTicks: 3400, closedTicks: 2000 };
    const motors = feetechLeader([2048, 2048, 2048, 2048, 2081]);
    const line = { port, baudRate: 1_000_000, joints: 5, gripper, springMa: 0, motors };
    const sink = new JointsSink(socket.address().port, model);
    const leader = await Leader.open({ open: () => ServoLine.open(line), hz: 100, sink, force: null });
    life.own(leader, (each) => each.close());
    const swing = () => Math.max(...seen) - Math.min(...seen);
    for (let i = 0; i < 100 && !(swing() > 0.6); i++) await sleep(50);
    assert.ok(swing() > 0.6 && swing() < 0.75, `20° to either side are ${swing()} rad`);
  });
});
