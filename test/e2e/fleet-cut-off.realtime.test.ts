import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Running, startFarhand } from './farhand.ts';
import { type FleetWorld, nextTransition, startFleetWorld, transitionsOf } from './fleet-rig.ts';
import { startTap, type Tap } from './tap.ts';

const skip = needs('nats-server');
const HERE = 'fleet.rtcAddress=127.0.0.1';
const TERM_S = 6;

// Twice the term passes without the robot's path to the broker, then the term without any.
describe('a driven robot whose ends lose the broker one after the other', { skip, timeout: 150_000 }, () => {
  const folder = temporaryFolder();
  const running: Running[] = [];
  const taps: Tap[] = [];
  let world: FleetWorld;
  let robot: Running;
  let ann: Running;

  before(async () => {
    world = await startFleetWorld(folder);
    const port = Number(new URL(world.server.url).port);
    taps.push(await startTap(port), await startTap(port));
    const [toRobot, toAnn] = taps.map((tap) => `nats://127.0.0.1:${tap.port}`) as [string, string];
    const arm = await world.credentials('arm', 'robot');
    const settings = [HERE, `fleet.leaseTermS=${TERM_S}`];
    robot = startFarhand(['robot', '--json', '--fleet', toRobot, '--creds', arm, ...settings]);
    running.push(robot);
    await robot.waitFor(/on the fleet/);
    await world.credentials('ann', 'operator');
    const [desk, telemetry] = await freeUdpPorts(2);
    const ports = [`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`, 'trace.dir='];
    const access = ['--server', toAnn, '--creds', path.join(folder, 'ann.creds')];
    ann = startFarhand(['fleet', 'operate', 'arm', '--json', ...access, ...ports, HERE]);
    running.push(ann);
    await ann.waitFor(/drives arm/);
    await nextTransition(robot, 0, 'engaged', 30_000);
  });
  after(async () => {
    await Promise.all(running.map((child) => child.end()));
    await Promise.all(taps.map((tap) => tap.close()));
    await world?.close();
  });

  const stopped = () => transitionsOf(robot).filter(({ to }) => to === 'stopped');

  it('continues with the grants that its operator fetches', async () => {
    await taps[0]!.close();
    await sleep(2 * TERM_S * 1000);
    assert.deepEqual(stopped(), []);
    assert.equal((await world.leases.look('arm'))?.user, 'ann');
  });

  it('stops when neither end reaches the broker for the term', async () => {
    const seen = transitionsOf(robot).length;
    const cutNs = Number(process.hrtime.bigint());
    await taps[1]!.close();
    const { cause, robotNs } = await nextTransition(robot, seen, 'stopped', 60_000);
    assert.match(cause, /lease ended/);
    assert.ok(robotNs - cutNs < (TERM_S + 5) * 1e9, `after ${(robotNs - cutNs) / 1e9} s`);
  });
});
