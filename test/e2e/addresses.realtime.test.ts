import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { Lifetime } from '../lifetime.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startFarhand } from './farhand.ts';

type Within = readonly string[];
/** Where the robot runs and the operator, and what each is given as the robot's address. */
interface Place {
  robot: { within: Within; listen: string };
  operator: { within: Within; host: string };
}

const DRIVEN_MS = 2000;
const REACTORS = ['native', 'dgram'] as const;
const keyFile = path.join(temporaryFolder('addresses'), 'test.key');
writeKeyFile(keyFile, { name: 'test', key: createKey(), createdAt: '2026-01-01T00:00:00Z' });

/** A robot follows its operator for two seconds without a break, and then stops for the operator's e-stop. */
async function assertDrives({ robot, operator }: Place, reactors: readonly [string, string]): Promise<void> {
  const life = new Lifetime();
  const [command, state, sync, deskPort, telemetryPort] = await freeUdpPorts(5);
  const link = [`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`];
  const shared = [...link, `link.keyFile=${keyFile}`, 'trace.dir='];
  const desk = [`console.deskPort=${deskPort}`, `console.telemetryPort=${telemetryPort}`];
  const start = (within: Within, args: string[]) =>
    life.own(startFarhand(args, false, within), (each) => each.end());
  try {
    const driven = start(robot.within, [
      'robot',
      '--json',
      '--listen',
      robot.listen,
      ...shared,
      `link.reactor=${reactors[0]}`,
    ]);
    await driven.waitFor(new RegExp(`"kind":"ready".*"reactor":"${reactors[0]}"`));
    const driving = start(operator.within, [
      'operator',
      '--json',
      '--robot',
      operator.host,
      ...shared,
      ...desk,
      `link.reactor=${reactors[1]}`,
    ]);
    await driving.waitFor(new RegExp(`"kind":"ready".*"reactor":"${reactors[1]}"`));
    await driven.waitFor(/"to":"engaged"/);
    await sleep(DRIVEN_MS);
    assert.doesNotMatch(driven.stdout(), /"from":"engaged"/, 'commands arrive without a break');
    const estop = start(operator.within, ['estop', '--json', '--within', '20000', ...desk]);
    assert.equal(await estop.exited, 0, estop.stderr());
    await driven.waitFor(/"to":"stopped","cause":"e-stop pressed"/);
  } finally {
    await life.end();
  }
}

describe('a link over IPv6 on one machine', () => {
  const here = (host: string): Place => ({
    robot: { within: [], listen: host },
    operator: { within: [], host },
  });
  for (const reactor of REACTORS)
    it(`works with ${reactor} sockets`, () => assertDrives(here('::1'), [reactor, reactor]));
});

describe('a link between two machines', {
  skip: needs('Linux', 'ip', 'network namespaces', 'private mounts', 'root'),
}, () => {
  const life = new Lifetime();
  const within: Within[] = [];

  /** Two networks joined by a cable, with a file of host names that only they see. */
  before(async () => {
    const hosts = path.join(temporaryFolder('hosts'), 'hosts');
    writeFileSync(hosts, 'fd00::1 arm.cell\n10.9.0.1 old-arm.cell\n127.0.0.1 localhost\n');
    const pids: string[] = [];
    for (let i = 0; i < 2; i++) {
      const script = `mount --bind ${hosts} /etc/hosts; ip link set lo up; echo up; exec sleep 600`;
      const keeper = spawn('unshare', ['-nm', 'sh', '-ec', script], { stdio: ['ignore', 'pipe', 'inherit'] });
      life.own(keeper, async () => {
        const closed = once(keeper, 'close');
        keeper.kill('SIGKILL');
        await closed;
      });
      await once(keeper.stdout!, 'data');
      pids.push(String(keeper.pid));
      within.push(['nsenter', '-t', String(keeper.pid), '-n', '-m']);
    }
    const at = (i: number, ...command: string[]) => {
      const [enter, ...words] = [...within[i]!, 'ip', ...command];
      const { status, stderr } = spawnSync(enter!, words, { encoding: 'utf8' });
      assert.equal(status, 0, stderr);
    };
    at(0, 'link', 'add', 'name', 'cable', 'type', 'veth', 'peer', 'name', 'cable', 'netns', pids[1]!);
    for (const i of [0, 1]) {
      at(i, 'address', 'add', `fd00::${i + 1}/64`, 'dev', 'cable', 'nodad');
      at(i, 'address', 'add', `10.9.0.${i + 1}/24`, 'dev', 'cable');
      at(i, 'link', 'set', 'cable', 'up');
    }
  });
  after(() => life.end());

  const place = (listen: string, host: string): Place => ({
    robot: { within: within[0]!, listen },
    operator: { within: within[1]!, host },
  });
  for (const reactor of REACTORS) {
    it(`works over IPv6 with ${reactor} sockets`, () =>
      assertDrives(place('fd00::1', 'fd00::1'), [reactor, reactor]));
    it(`works with the robot’s name and ${reactor} sockets`, () =>
      assertDrives(place('arm.cell', 'arm.cell'), [reactor, reactor]));
  }
  it('works with an IPv4 operator of a robot that listens on all addresses, each with other sockets', () =>
    assertDrives(place('::', 'old-arm.cell'), ['native', 'dgram']));
});
