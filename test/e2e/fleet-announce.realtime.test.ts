import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectFleet } from '../../src/fleet/connection.ts';
import { Announcer } from '../../src/fleet/recordings/announcer.ts';
import { FleetTarget } from '../../src/fleet/recordings/fleet-target.ts';
import { RecordingIndex } from '../../src/fleet/recordings/recording-index.ts';
import type { Recording } from '../../src/fleet/recordings.ts';
import { createRecordingBucket } from '../../src/fleet/store/recording-store.ts';
import { emptyInfo, rowOf, START_NS, startOf } from '../../src/record/test-episode.ts';
import { EpisodeWriter } from '../../src/record/writer.ts';
import type { ObjectStore } from '../../src/s3/object-store.ts';
import { writeFrame } from '../../src/wire/codecs/frame.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { farhand, type Running, startFarhand } from './farhand.ts';
import { type FleetWorld, startFleetWorld } from './fleet-rig.ts';

const skip = needs('nats-server');
const HERE = 'fleet.rtcAddress=127.0.0.1';

/** Writes a finished episode recorded from the fleet robot of that name. */
function record(dir: string, id: string, robot: string): void {
  mkdirSync(dir, { recursive: true });
  const info = emptyInfo(id, 6, []);
  const start = { ...startOf(info), rig: { fleet: { robot } } };
  const writer = new EpisodeWriter(path.join(dir, `${id}.mcap`), start);
  writer.row(rowOf(0, 6, new Map(), START_NS), START_NS, new Map());
  writer.close({ ...info, rows: 1, durationS: 0.03, complete: true });
}

// Its processes start on a machine that may be busy.
describe('recordings of a fleet session', { skip, timeout: 180_000 }, () => {
  const folder = temporaryFolder();
  const [atRobot, atOperator, pulled] = ['robot', 'operator', 'pulled'].map((name) =>
    path.join(folder, name),
  );
  const running: Running[] = [];
  let world: FleetWorld;
  let index: RecordingIndex;

  const known = async (isSo: (all: Recording[]) => boolean, withinMs = 30_000): Promise<Recording[]> => {
    let all: Recording[] = [];
    for (const untilMs = performance.now() + withinMs; performance.now() < untilMs; await sleep(100)) {
      all = await index.list().catch(() => []);
      if (isSo(all)) return all;
    }
    const output = running.map((child) => child.stdout() + child.stderr()).join('\n');
    throw new Error(`the index has ${JSON.stringify(all)}\n${output}`);
  };

  before(async () => {
    world = await startFleetWorld(folder);
    await world.credentials('ann', 'operator');
    await createRecordingBucket(world.admin.nats, 'arm', { maxBytes: 50e6, replicas: 1 });
    index = new RecordingIndex(world.boss, 'arm');
    const file = await world.credentials('arm', 'robot');
    const access = ['--fleet', world.server.url, '--creds', file, '--name', 'arm'];
    record(atRobot!, 'earlier', 'arm');
    record(atRobot!, 'of-another', '');
    const robot = startFarhand(['robot', ...access, HERE, `record.dir=${atRobot}`]);
    running.push(robot);
    await robot.waitFor(/on the fleet/);
  });
  after(async () => {
    await Promise.all(running.map((child) => child.end()));
    await world?.close();
  });

  it('announces the robot’s recordings on its host, but not those of other robots', async () => {
    const [only, ...others] = await known((all) => all.length > 0);
    assert.equal(only?.episode, 'earlier');
    assert.deepEqual([only?.places, only?.atRobot, others], [[], true, []]);
  });

  it('deletes recordings on request, but only after they were stored and read back', async () => {
    const dir = path.join(folder, 'full');
    record(dir, 'stored', 'arm');
    record(dir, 'of-another', 'other');
    const robot = await connectFleet(world.server.url, path.join(folder, 'arm.creds'));
    const [own, nats] = [new RecordingIndex(robot, 'arm'), new FleetTarget(robot, 'arm')];
    const now = () => new Date().toISOString();
    const announcer = new Announcer({ robot: 'arm', dir, deleteAfter: true, now, say: () => {} });
    const lost: ObjectStore = {
      where: () => nats.where(),
      find: (name) => nats.find(name),
      store: (upload, resumed) => nats.store(upload, resumed),
      discard: (upload) => nats.discard(upload),
      async *read() {},
    };
    await assert.rejects(
      announcer.look(async () => ({ index: own, target: lost })),
      /not stored correctly/,
    );
    assert.deepEqual(readdirSync(dir).sort(), ['of-another.mcap', 'stored.mcap']);
    await announcer.look(async () => ({ index: own, target: nats }));
    await robot.close();
    assert.deepEqual(readdirSync(dir), ['of-another.mcap']);
    const entry = await index.get('stored');
    assert.deepEqual([entry?.atRobot, entry?.places[0]?.where], [false, 'nats']);
  });

  it('announces and stores the operator’s recordings while driving', async () => {
    const [desk, telemetry] = await freeUdpPorts(2);
    const ports = [`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`];
    const settings = [...ports, 'trace.dir=', HERE, `record.dir=${atOperator}`, 'record.start=engage'];
    const access = ['--server', world.server.url, '--creds', path.join(folder, 'ann.creds')];
    const args = ['fleet', 'operate', 'arm', '--json', ...access, ...settings, 'fleet.recordings=push'];
    const ann = startFarhand(args);
    running.push(ann);
    await ann.waitFor(/drives arm/);
    mkdirSync(atOperator!, { recursive: true });
    const parts = () => readdirSync(atOperator!).filter((name) => name.endsWith('.part'));
    await until('a recording', () => parts().length > 0);
    await sleep(300);
    await ask(telemetry!, { kind: 'record', action: 'stop', label: 'success' });
    const isRecorded = ({ places, atRobot: isThere }: Recording) => isThere && places.length > 0;
    const all = await known((entries) => entries.some(isRecorded));
    const [first] = all.filter(isRecorded);
    assert.deepEqual([first?.label, first?.places[0]?.where], ['success', 'nats']);
    assert.doesNotMatch(ann.stdout(), /fleet-ended/);
    // The last one is saved when the session ends.
    await ask(telemetry!, { kind: 'record', action: 'start' });
    await until('another recording', () => parts().length > 0);
    assert.equal(await ann.end(), 0);
    const saved = readdirSync(atOperator!).filter((name) => name.endsWith('.mcap'));
    assert.equal(saved.length, 2);
    assert.equal((await index.list()).length, 2 + saved.length, saved.join(' '));
    const { code, stderr } = await farhand([
      ...['fleet', 'pull', 'arm', first!.episode, '--url', world.server.url, '--creds'],
      ...[path.join(folder, 'ann.creds'), '--recordings', pulled!],
    ]);
    assert.equal(code, 0, stderr);
    const name = `${first!.episode}.mcap`;
    const bytes = (dir: string) => readFileSync(path.join(dir, name));
    assert.ok(bytes(pulled!).equals(bytes(atOperator!)));
  });

  it('announces recordings made while the broker was down once it is back', async () => {
    await world.server.kill();
    record(atRobot!, 'meanwhile', 'arm');
    await sleep(1200);
    await world.startAgain();
    await until('the broker again', () => world.boss.isConnected());
    await known((all) => all.some(({ episode }) => episode === 'meanwhile'));
    assert.match(running[0]!.stderr(), /not announced yet/);
  });
});

async function ask(port: number, request: object): Promise<void> {
  const out = new Uint8Array(128);
  const length = writeFrame('request', request, out);
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.send(out, 0, length, port, '127.0.0.1', () => resolve()));
  socket.close();
}
