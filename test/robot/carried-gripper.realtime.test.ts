import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDriver } from '../../src/app/open-driver.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { rigModel } from '../../src/rig/robot-models.ts';
import { carriedGripper } from '../../src/robot/carried-gripper.ts';
import { emptyReading } from '../../src/robot/driver.ts';
import { startSimProcess } from '../contract/sim-process.ts';

const CASES = [
  {
    rig: 'ur3',
    gripper: 'robotiq-2f',
    sim: ['ur', '--rtde', '0', '--dashboard', '0', '--script', '0', '--gripper', '0'],
    ports: {
      'options.rtdePort': 'rtde',
      'options.dashboardPort': 'dashboard',
      'options.scriptPort': 'script',
      'gripperOptions.socketPort': 'gripper',
    },
  },
  {
    rig: 'xarm6',
    gripper: 'xarm-gripper',
    sim: ['xarm6', '--command', '0', '--report', '0', '--normal', '0'],
    ports: {
      'options.commandPort': 'command',
      'options.reportPort': 'report',
      'gripperOptions.commandPort': 'command',
    },
  },
] as const;

describe('an arm and the gripper it carries', { concurrency: 2 }, () => {
  for (const { rig: name, gripper, sim: args, ports } of CASES)
    it(`rig ${name} with robot.gripper=${gripper} follows in proportion and holds at a stop`, async () => {
      const sim = await startSimProcess(args);
      const port = (word: string) => /\d+/.exec(sim.ready.split(`${word} `)[1]!)![0];
      const settings = Object.entries(ports).map(([key, word]) => `robot.${key}=${port(word)}`);
      const all = ['robot.options.host=127.0.0.1', `robot.gripper=${gripper}`, ...settings];
      if (name === 'ur3') all.push('robot.options.reversePort=0');
      const rig = loadRig(name, all).config;
      assert.ok(rigModel(rig).gripper, 'the model has a gripper');
      const model = rigModel(rig);
      const { driver, close } = await openDriver(rig.robot.driver, rig.robot.options, model, monotonicClock, {
        gripper: carriedGripper(rig.robot),
        controlSilenceMs: 2000,
      });
      const reading = emptyReading(model.joints.length);
      const cycles = async (ms: number, gripperTo: number | null): Promise<void> => {
        for (let t = 0; t < ms; t += 10) {
          driver.read(monotonicClock.nowNs(), reading);
          if (gripperTo !== null) driver.write(monotonicClock.nowNs(), reading.positionsRad, gripperTo);
          await sleep(10);
        }
      };
      try {
        let enabled = driver.enable(monotonicClock.nowNs());
        for (let i = 0; i < 800 && enabled === 'stale'; i++) {
          await cycles(10, null);
          enabled = driver.enable(monotonicClock.nowNs());
        }
        assert.equal(enabled, 'ok', driver.fault);
        for (let i = 0; i < 60 && Math.abs(reading.gripper - 0.6) > 0.02; i++) await cycles(50, 0.6);
        assert.ok(Math.abs(reading.gripper - 0.6) < 0.02, `${reading.gripper}: ${driver.fault}`);
        driver.stop(monotonicClock.nowNs());
        await cycles(300, 0);
        assert.ok(Math.abs(reading.gripper - 0.6) < 0.02, 'keeps its position');
      } finally {
        await close();
        await sim.stop();
      }
    });
});
