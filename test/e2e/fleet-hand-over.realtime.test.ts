import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { askHolder } from '../../src/fleet/hand-over-requests.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Running, startFarhand } from './farhand.ts';
import { type FleetWorld, nextTransition, startFleetWorld } from './fleet-rig.ts';

const skip = needs('nats-server');
const HERE = 'fleet.rtcAddress=127.0.0.1';

// Its processes start on a machine that may be busy.
describe('a robot driven by `fleet operate`', { skip, timeout: 180_000 }, () => {
  let world: FleetWorld;
  let robot: Running;
  let ann: Running;
  const folder = temporaryFolder();
  const running: Running[] = [];

  const operate = async (name: string, ...more: string[]) => {
    const access = ['--server', world.server.url, '--creds', path.join(folder, `${name}.creds`)];
    const child = startFarhand(['fleet', 'operate', 'arm', ...access, ...more, 'trace.dir=', HERE]);
    running.push(child);
    return child;
  };

  before(async () => {
    world = await startFleetWorld(folder);
    const arm = await world.credentials('arm', 'robot');
    for (const name of ['ann', 'bob']) await world.credentials(name, 'operator');
    robot = startFarhand(['robot', '--json', '--fleet', world.server.url, '--creds', arm, HERE]);
    running.push(robot);
    await robot.waitFor(/on the fleet/);
    ann = await operate('ann');
    await ann.waitFor(/drives arm/);
    await nextTransition(robot, 0, 'engaged', 30_000);
  });
  after(async () => {
    await Promise.all(running.map((child) => child.end()));
    await world?.close();
  });

  it('stays with its driver, who answers a request with n', async () => {
    let isReceived = false;
    const asking = askHolder(world.boss, 'arm', 'ann', () => {
      isReceived = true;
    });
    await ann.waitFor(/boss requests arm\. Type y and Enter/);
    ann.process.stdin!.write('n\n');
    assert.equal(await asking, 'no');
    assert.equal(isReceived, true);
    assert.equal((await world.leases.look('arm'))?.user, 'ann');
  });

  it('is handed over to who asks with --ask, when its driver answers y', async () => {
    const bob = await operate('bob', '--ask');
    await ann.waitFor(/bob requests arm/);
    ann.process.stdin!.write('y\n');
    await bob.waitFor(/drives arm/);
    assert.match(bob.stderr(), /asked ann for arm/);
    // Two operators on one machine, and nobody chose ports.
    assert.match(bob.stderr(), /another operator runs on this machine.*console\.deskPort=\d+/);
    await ann.waitFor(/fleet connection ended: handed over to bob/);
    assert.equal((await world.leases.look('arm'))?.user, 'bob');
    assert.equal(await askHolder(world.boss, 'arm', 'ann', () => {}), 'unreachable');
  });
});
