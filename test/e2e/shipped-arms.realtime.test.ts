import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { Lifetime } from '../lifetime.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import type { Running } from './farhand.ts';
import {
  armed,
  inside,
  lastState,
  linesOf,
  openNetwork,
  PATIENT,
  recordShipped,
  SHIPPED_RIGS,
  SIDES,
  type Side,
  type SideTransition,
  until,
  urArm,
} from './shipped-arms.ts';

describe('the rigs of two arms, each with simulators of their controllers', {
  skip: needs('network namespaces'),
  timeout: 240_000,
}, () => {
  const life = new Lifetime();
  afterEach(() => life.end());

  for (const shipped of SHIPPED_RIGS)
    it(`${shipped.rig}: both move, one stop ends both, one recording`, async () => {
      const { dataset } = await recordShipped(shipped, life);
      const info = JSON.parse(readFileSync(path.join(dataset, 'meta/info.json'), 'utf8')) as {
        features: Record<string, { names: string[] }>;
      };
      for (const feature of ['action', 'observation.state']) {
        const found = info.features[feature]!.names;
        assert.deepEqual([found[0], found.at(-1)], shipped.names);
        assert.equal(found.filter((name) => name.startsWith('left_')).length, found.length / 2);
      }
    });
});

describe('two arms on two machines', { skip: needs('network namespaces'), timeout: 240_000 }, () => {
  const life = new Lifetime();
  afterEach(() => life.end());

  function cable(desk: string, robot: string, name: Side, net: string): void {
    const ip = (...args: string[]) => {
      const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
      assert.equal(status, 0, `ip ${args.join(' ')}: ${stderr}`);
    };
    ip('link', 'add', 'name', name, 'netns', desk, 'type', 'veth', 'peer', 'name', 'cable', 'netns', robot);
    for (const [pid, device, host] of [
      [desk, name, 1],
      [robot, 'cable', 2],
    ] as const) {
      const within = ['nsenter', '-t', pid, '-n', 'ip'];
      for (const words of [
        ['address', 'add', `${net}.${host}/24`, 'dev', device],
        ['link', 'set', device, 'up'],
      ])
        assert.equal(spawnSync(within[0]!, [...within.slice(1), ...words]).status, 0);
    }
  }

  it('a stop of one crosses to the other through the operator', async () => {
    const nets: Record<Side, string> = { left: '10.0.1', right: '10.0.2' };
    const desk = await openNetwork(life);
    const folder = temporaryFolder();
    const keyFile = path.join(folder, 'pair.key');
    writeKeyFile(keyFile, { name: 'pair', key: createKey(), createdAt: new Date().toISOString() });
    const base = ['--rig', 'ur3-both', 'arms.apart=true', `link.keyFile=${keyFile}`, ...PATIENT];
    for (const side of SIDES)
      base.push(`arms.${side}.link.robotHost=${nets[side]}.2`, ...urArm(side, '127.0.0.1').settings);
    const machines = {} as Record<Side, { sim: Running; robot: Running }>;
    for (const side of SIDES) {
      const machine = await openNetwork(life);
      cable(desk.pid, machine.pid, side, nets[side]);
      const { start } = inside(machine.within, life);
      const sim = start(['sim', 'ur', '--json']);
      await sim.waitFor(/ready/);
      const robot = start(['robot', ...base, '--arm', side, '--listen', `${nets[side]}.2`, '--json']);
      machines[side] = { sim, robot };
    }
    for (const { robot } of Object.values(machines)) await robot.waitFor(/"kind":"ready"/);
    const { start, run } = inside(desk.within, life);
    start([
      'operator',
      ...base,
      'operator.input=scripted',
      'operator.inputs.scripted={}',
      `trace.dir=${folder}`,
    ]);
    const states = () => SIDES.map((side) => lastState(machines[side].robot, side));
    const why = () => SIDES.map((side) => `${machines[side].robot.stdout()}\n`).join('');
    const engage = async () => {
      await armed(base, run, why);
      await until('both engaged', () => states().every((state) => state === 'engaged'), why);
    };
    await engage();
    const { left, right } = machines;
    const byHand = left.sim.process;
    byHand.kill('SIGUSR1');
    await until('both stopped', () => states().every((state) => state === 'stopped'), why);
    const cause = linesOf<SideTransition>(right.robot, 'transition').at(-1)!.cause;
    assert.match(cause, /e-stop pressed/);
  });
});
