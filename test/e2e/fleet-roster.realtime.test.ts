import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Presence } from '../../src/fleet/messages.ts';
import { roster } from '../../src/fleet/roster/listen-for-robots.ts';
import { RosterClient } from '../../src/fleet/roster/roster-client.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { type FleetWorld, startFleetWorld } from './fleet-rig.ts';

const MANY = 2500;

describe('the roster service', { skip: needs('nats-server') }, () => {
  const folder = temporaryFolder();
  let world: FleetWorld;
  before(async () => {
    world = await startFleetWorld(folder);
  });
  after(() => world?.close());

  const presence = (robot: string, state: string): Presence => ({
    ...{ kind: 'presence', robot, model: 'ur3', version: '1', state, cause: '', holder: null, link: null },
    atMs: Date.now(),
  });

  it('answers pages of thousands of robots, then only their changes, within the permissions', async () => {
    const robots = Array.from({ length: MANY }, (_, i) => `hall-${i % 2}/r${i}`);
    const halls = await world.enter('halls', 'robot', ['hall-0/*', 'hall-1/*']);
    const send = (robot: string, state = 'idle') =>
      halls.nats.publish(subjects.presence(robot), JSON.stringify(presence(robot, state)));
    for (const robot of robots) send(robot);
    await halls.nats.flush();
    const count = async () => (await new RosterClient(world.boss, '-').changes()).rows.length;
    await until('all of them', async () => (await count()) === MANY);
    const north = await world.enter('north', 'viewer', ['hall-1/*']);
    const following = new RosterClient(north, 'hall-1');
    const first = await following.changes();
    assert.equal(first.isAll, true);
    assert.equal(first.rows.length, MANY / 2);
    assert.ok(first.rows.every((row) => row.presence.robot.startsWith('hall-1/')));
    for (const robot of robots.slice(0, 100)) send(robot);
    send('hall-1/r1', 'engaged');
    send('hall-0/r0', 'engaged');
    await halls.nats.flush();
    let changed: string[] = [];
    await until('the change', async () => {
      changed = (await following.changes()).rows.map(({ presence: row }) => `${row.robot} ${row.state}`);
      return changed.length > 0;
    });
    assert.deepEqual(changed, ['hall-1/r1 engaged'], 'robots that repeat themselves are not sent');
    await assert.rejects(new RosterClient(north, 'hall-0').changes(), /do not allow/);
    const startMs = performance.now();
    assert.equal((await roster(north)).length, MANY / 2);
    assert.ok(performance.now() - startMs < 5000, 'without listening for five seconds');
  });
});
