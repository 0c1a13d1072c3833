import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, it } from 'node:test';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { Lifetime } from '../lifetime.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { buildPeer } from './dds-peer/build.ts';
import { CYCLONEDDS_URI } from './dds-peer/process.ts';
import { type Running, startFarhand } from './farhand.ts';

const DOMAIN = 100 + (process.pid % 60);
const { file, missing } = buildPeer('CycloneDDS commander');

interface Seen {
  received: number;
  written: number;
  joints: number;
  moved: number;
  atS: number;
}

/** A foreign node that drives index_mcp to and fro. */
class Commander {
  readonly seen: Seen[] = [];
  readonly #child: ChildProcess;

  constructor(prefix: string, reliability: string) {
    const args = [String(DOMAIN), prefix, reliability, '90', '120', 'index_mcp', '0.4'];
    this.#child = spawn(file, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, CYCLONEDDS_URI },
    });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      const report = JSON.parse(line) as Partial<Seen>;
      if (report.received !== undefined) this.seen.push(report as Seen);
    });
  }

  get last(): Seen {
    return this.seen.at(-1) ?? { received: 0, written: 0, joints: 0, moved: 0, atS: 0 };
  }

  end(): void {
    this.#child.kill('SIGTERM');
  }
}

describe('farhand robot rig=orca as a ROS 2 hardware node', { skip: missing }, () => {
  const life = new Lifetime();
  afterEach(() => life.end());

  /** Simulated motors on a serial line, and the robot process with the shipped rig. */
  async function startRobot(prefix: string, ...settings: string[]): Promise<Running> {
    const folder = temporaryFolder();
    const [port, calibration, keyFile] = ['tty', 'hand.json', 'test.key'].map((name) =>
      path.join(folder, name),
    );
    writeKeyFile(keyFile!, { name: 'test', key: createKey(), createdAt: '2026-01-01T00:00:00Z' });
    const sim = startFarhand([
      'sim',
      'orca',
      '--port',
      port!,
      '--hand',
      'v1-right',
      '--calibration',
      calibration!,
    ]);
    life.own(sim, (each) => each.end());
    await sim.waitFor(/sim orca ready/);
    const ports = await freeUdpPorts(3);
    const robot = startFarhand([
      ...[
        'robot',
        '--rig',
        'orca',
        `robot.options.port=${port}`,
        `robot.options.calibrationFile=${calibration}`,
      ],
      ...[`link.keyFile=${keyFile}`, `link.commandPort=${ports[0]}`, `link.statePort=${ports[1]}`],
      ...[`link.syncPort=${ports[2]}`, `robot.topics.domainId=${DOMAIN}`],
      ...[`robot.topics.commandTopic=/${prefix}/command`, `robot.topics.stateTopic=/${prefix}/joint_states`],
      // A busy machine stalls. This tests topics, not the watchdogs.
      ...['robot.commandTimeoutMs=400', 'robot.feedbackTimeoutMs=1000'],
      ...['robot.options.feedbackTimeoutMs=900', 'robot.options.busWatchdogMs=2000'],
      ...settings,
    ]);
    life.own(robot, (each) => each.end());
    await robot.waitFor(/robot ready/i, 50_000);
    return robot;
  }

  for (const reliability of ['reliable', 'best-effort'])
    it(`follows a ${reliability} commander of another make and publishes what the motors measure`, {
      timeout: 120_000,
    }, async () => {
      const prefix = `topics_${process.pid}_${reliability.replace('-', '_')}`;
      const robot = await startRobot(prefix, 'robot.topics.arm=first-command');
      const commander = new Commander(prefix, reliability);
      life.own(commander, async (each) => each.end());
      const why = () => `${JSON.stringify(commander.last)}\n${robot.stdout()}${robot.stderr()}`;
      await until('states of 17 joints', () => commander.last.joints === 17, why);
      await until('a joint that follows', () => commander.last.moved > 0.3, why);
      await until('and comes back', () => commander.last.moved < 0.1, why);
      const [first, last] = [commander.seen.find(({ joints }) => joints > 0)!, commander.last];
      console.log(
        `${reliability}: ${((last.received - first.received) / (last.atS - first.atS)).toFixed(0)} joint states per second`,
      );
    });

  it('stays idle without permission to arm, and still publishes', { timeout: 120_000 }, async () => {
    const prefix = `topics_${process.pid}_idle`;
    const robot = await startRobot(prefix);
    const commander = new Commander(prefix, 'reliable');
    life.own(commander, async (each) => each.end());
    await until(
      '200 commands',
      () => commander.last.written > 200 && commander.last.received > 100,
      () => robot.stderr(),
    );
    assert.ok(Math.abs(commander.last.moved) < 0.01, `${commander.last.moved} rad`);
  });
});
