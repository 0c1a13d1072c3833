import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { writePerson } from '../../src/cli/hand-calibration-file.ts';
import { openTls } from '../../src/console/ca.ts';
import { DeviceStore } from '../../src/console/devices.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { writeWhole } from '../../src/files/write-whole.ts';
import { type Authority, saveAuthority } from '../../src/fleet/authority.ts';
import { makeRouteCertificate } from '../../src/fleet/route-certificates.ts';
import { rewriteServers } from '../../src/fleet/server-rewrite.ts';
import { labelEpisode } from '../../src/record/episodes.ts';
import { emptyInfo, rowOf, START_NS, startOf } from '../../src/record/test-episode.ts';
import { EpisodeWriter } from '../../src/record/writer.ts';
import { saveRanges } from '../../src/robot/drivers/orca/calibration-file.ts';
import { HANDS } from '../../src/robot/drivers/orca/hands.ts';
import { keepPrior } from '../../src/robot/network-memory.ts';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { needs } from '../needs.ts';
import { openSmallDisk, type SmallDisk } from '../small-disk.ts';

const YEAR_MS = 365 * 24 * 3600e3;
/** More than a file-system page, so that a truncated file lacks its end. */
const LONG = 'x'.repeat(9000);

interface Case {
  name: string;
  /** Writes the file, then a longer one over it. */
  write: (dir: string, isFirst: boolean) => unknown;
}

const key = (name: string) => ({ name, key: createKey(), createdAt: '2026-01-01T00:00:00.000Z' });
const users = (count: number): Authority['users'] =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `user-${i}`,
      { publicKey: 'U'.repeat(56), role: 'operator', robots: ['*'], expires: i },
    ]),
  );
const authority = (folder: string, count: number): Authority => ({
  ...{
    folder,
    operatorSeed: 'SO',
    storeSeed: 'SA',
    usersSeed: 'SA',
    systemSeed: 'SS',
    leaseKeys: {},
    siteSeeds: {},
  },
  ...{ operatorToken: 'token', systemToken: 'token', revoked: {}, revokedInStore: {}, users: users(count) },
});
const prior = { version: 1 as const, needsMs: [1, 2, 3], usualMs: 1 };
const hand = HANDS[0]!;

function episode(dir: string): string {
  const file = path.join(dir, 'e.mcap');
  const info = emptyInfo('e', 6, []);
  const writer = new EpisodeWriter(file, startOf(info));
  writer.row(rowOf(0, 6, new Map(), START_NS), START_NS, new Map());
  writer.close({ ...info, rows: 1 });
  return file;
}

const CASES: Case[] = [
  {
    name: 'a link key',
    write: (dir) => writeKeyFile(path.join(dir, 'robot.key'), key('robot'), { replace: true }),
  },
  {
    name: 'paired devices',
    write: (dir, isFirst) => {
      const store = new DeviceStore(dir);
      store.add(isFirst ? 'tablet' : 'headset', 'operator');
    },
  },
  {
    name: 'the console’s authority and certificates',
    write: (dir, isFirst) => openTls(dir, Date.UTC(2026, 0) + (isFirst ? 0 : 20 * YEAR_MS)),
  },
  { name: 'the fleet’s keys', write: (dir, isFirst) => saveAuthority(authority(dir, isFirst ? 1 : 100)) },
  {
    name: 'a server’s settings',
    write: (dir, isFirst) => {
      const file = path.join(dir, 'server.conf');
      if (isFirst) writeFileSync(file, 'port: 4222\nresolver_preload {\n  A: "old"\n}\n');
      else rewriteServers(dir, { A: LONG });
    },
  },
  {
    name: 'the certificates of a fleet’s routes',
    write: (dir) => makeRouteCertificate(dir, dir, '127.0.0.1', Date.UTC(2026, 0)),
  },
  {
    name: 'networks.json',
    write: (dir, isFirst) => {
      for (let i = 0; i < (isFirst ? 2 : 60); i++) keepPrior(`10.0.${i}.0/24`, prior, dir);
    },
  },
  {
    name: 'an ORCA calibration',
    write: (dir, isFirst) => {
      const joints = isFirst ? hand.joints.slice(0, 1) : hand.joints;
      const ranges = joints.map(({ name }) => [name, { lowRad: -1, highRad: 1 }] as const);
      saveRanges(path.join(dir, 'orca.calibration.json'), hand, Object.fromEntries(ranges));
    },
  },
  {
    name: 'gains in a rig',
    write: (dir, isFirst) => {
      const rig = path.join(dir, 'rig.yaml');
      if (isFirst) writeFileSync(rig, `# ${LONG}\nname: mine\n`);
      else writePerson({ values: { rig, out: path.join(dir, 'person.yaml') }, words: [], overrides: [] }, {});
    },
  },
  {
    name: 'the label of an episode',
    write: (dir, isFirst) =>
      isFirst
        ? labelEpisode(episode(dir), { label: 'good' })
        : labelEpisode(path.join(dir, 'e.mcap'), { label: LONG }),
  },
  {
    name: 'a report',
    write: (dir, isFirst) => writeWhole(path.join(dir, 'run.check.json'), isFirst ? '{}' : LONG),
  },
];

/** All files of a folder with their content. */
const contentOf = (dir: string): Record<string, string> =>
  Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(path.join(dir, name), 'latin1')]));

async function failureOf(operation: () => unknown): Promise<TeleopError> {
  try {
    await operation();
  } catch (error) {
    assert.ok(error instanceof TeleopError, String(error));
    return error;
  }
  return assert.fail('the call did not fail');
}

const skip = needs('mounts');

describe('on a full disk', { skip }, () => {
  let disk: SmallDisk;
  let dir = '';
  before(async () => {
    disk = await openSmallDisk(4 << 20);
  });
  after(() => disk?.close());
  afterEach(() => disk.free());

  for (const { name, write } of CASES)
    it(`${name} stays unchanged, and the error names the remedy`, async () => {
      dir = mkdtempSync(path.join(disk.dir, 'case-'));
      await write(dir, true);
      const old = contentOf(dir);
      disk.fill();
      const { code, message, hint } = await failureOf(() => write(dir, false));
      assert.equal(code, 'file-unwritable');
      assert.match(message, /the disk is full \(ENOSPC\)/);
      assert.ok(message.includes(dir), `${message} names the file`);
      assert.match(hint, /Free space/);
      assert.deepEqual(contentOf(dir), old);
      disk.free();
      await write(dir, false);
      assert.notDeepEqual(contentOf(dir), old, 'written once there is space');
      rmSync(dir, { recursive: true });
    });

  it('a new key leaves nothing behind', async () => {
    dir = path.join(disk.dir, 'keys');
    mkdirSync(dir);
    disk.fill();
    const { message } = await failureOf(() => writeKeyFile(path.join(dir, 'new.key'), key('new')));
    assert.match(message, /new\.key cannot be written: the disk is full/);
    assert.deepEqual(readdirSync(dir), []);
    disk.free();
  });
});

describe('on a read-only disk', { skip }, () => {
  it('files stay unchanged, and the error names the remedy', async () => {
    const disk = await openSmallDisk(4 << 20);
    try {
      const dirs = CASES.map(() => mkdtempSync(path.join(disk.dir, 'case-')));
      for (const [i, { write }] of CASES.entries()) await write(dirs[i]!, true);
      disk.readOnly();
      for (const [i, { write, name }] of CASES.entries()) {
        const old = contentOf(dirs[i]!);
        const { message, hint } = await failureOf(() => write(dirs[i]!, false));
        assert.match(message, /the file system is read-only \(EROFS\)/, name);
        assert.match(hint, /Choose a writable folder/, name);
        assert.deepEqual(contentOf(dirs[i]!), old, name);
      }
    } finally {
      await disk.close();
    }
  });

  it('a folder that cannot be created is not reported as missing', async () => {
    const disk = await openSmallDisk(1 << 20);
    try {
      disk.readOnly();
      const file = path.join(disk.dir, 'state', 'console', 'local-token');
      const { message } = await failureOf(() => writeWhole(file, 'x', { folderMode: 0o700 }));
      assert.match(message, /the file system is read-only \(EROFS\)/);
    } finally {
      await disk.close();
    }
  });
});
