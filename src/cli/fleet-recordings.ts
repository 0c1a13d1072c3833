import { setTimeout as sleep } from 'node:timers/promises';
import { TeleopError } from '../core/errors.ts';
import { printable } from '../core/printable.ts';
import { createRobotAudit } from '../fleet/audit.ts';
import { connectFleet } from '../fleet/connection.ts';
import { FleetTarget } from '../fleet/recordings/fleet-target.ts';
import { pullRecording } from '../fleet/recordings/pull.ts';
import { type PushOptions, pushRecordings } from '../fleet/recordings/push.ts';
import { RecordingIndex } from '../fleet/recordings/recording-index.ts';
import type { Recording } from '../fleet/recordings.ts';
import { createRecordingBucket } from '../fleet/store/recording-store.ts';
import { ROBOT_NAME } from '../fleet/subjects.ts';
import type { ObjectStore } from '../s3/object-store.ts';
import { s3ClientOf } from '../s3/s3-place.ts';
import { S3Target } from '../s3/s3-target.ts';
import { type Given, numberOption, type OptionSpec } from './arguments.ts';
import { accessOf, fleetSettings } from './fleet-actions.ts';
import { onEndRequest } from './process.ts';
import { recordDirOf } from './record-dir.ts';

/** Options of the actions below, merged into those of `farhand fleet`. */
export const RECORDING_OPTIONS: Record<string, OptionSpec> = {
  recordings: {
    type: 'string',
    value: 'DIR',
    about: 'folder of recordings (default: record.dir of the rig)',
  },
  to: { type: 'string', value: 'PLACE', about: 'push: nats (default), s3://BUCKET/FOLDER, or none' },
  from: { type: 'string', value: 'PLACE', about: 'pull: nats (default) or s3://BUCKET/FOLDER' },
  endpoint: { type: 'string', value: 'URL', about: 'address of an S3 server other than Amazon’s' },
  delete: { type: 'boolean', about: 'push: delete local files once stored and verified' },
  every: { type: 'string', value: 'S', about: 'push: look for new episodes every S seconds until Ctrl-C' },
  gb: { type: 'string', value: 'N', about: 'bucket: size in gigabytes (default: 20)' },
};

export const RECORDING_ACTIONS: Record<string, (given: Given) => Promise<number>> = {
  bucket,
  push,
  pull,
  recordings,
};

const textOf = (given: Given, name: string): string | undefined =>
  typeof given.values[name] === 'string' ? given.values[name] : undefined;

function robotOf(given: Given): string {
  const robot = given.words[1] ?? '';
  if (ROBOT_NAME.test(robot)) return robot;
  throw new TeleopError(
    'bad-option',
    robot === '' ? `fleet ${given.words[0]} needs a robot` : `"${robot}" is not a valid robot name`,
    {
      hint: `Write \`farhand fleet ${given.words[0]} ROBOT\`.`,
    },
  );
}

function connected(given: Given, user: string) {
  const { url, credentials } = accessOf(given, user);
  return connectFleet(url, credentials, fleetSettings(given));
}

async function placeOf(
  given: Given,
  connection: Awaited<ReturnType<typeof connected>>,
  robot: string,
  address: string,
): Promise<ObjectStore> {
  if (address === 'nats') return new FleetTarget(connection, robot);
  return new S3Target(s3ClientOf(address, robot, process.env, textOf(given, 'endpoint')));
}

async function bucket(given: Given): Promise<number> {
  const robot = robotOf(given);
  const gigabytes = numberOption(given, 'gb', 0.01, 100_000) ?? 20;
  const replicas = numberOption(given, 'replicas', 1, 5) ?? 1;
  const connection = await connected(given, 'admin');
  try {
    await createRecordingBucket(connection.nats, robot, { maxBytes: Math.round(gigabytes * 1e9), replicas });
    await createRobotAudit(connection.nats, robot, replicas);
    console.log(
      `${robot}: room for ${gigabytes} GB of recordings on ${replicas} ${replicas === 1 ? 'server' : 'servers'}, and its own log`,
    );
    return 0;
  } finally {
    await connection.close();
  }
}

async function push(given: Given): Promise<number> {
  const robot = robotOf(given);
  const dir = textOf(given, 'recordings') ?? recordDirOf(given);
  const address = textOf(given, 'to') ?? 'nats';
  const connection = await connected(given, robot);
  try {
    const target = address === 'none' ? null : await placeOf(given, connection, robot, address);
    const index = new RecordingIndex(connection, robot);
    const options: PushOptions = {
      ...{ robot, dir, target, episodes: given.words.slice(2), deleteAfter: given.values['delete'] === true },
      now: () => new Date().toISOString(),
      say: (text) => console.log(text),
    };
    const everyS = numberOption(given, 'every', 1, 86_400);
    if (everyS !== null) return await pushAlways(index, options, everyS * 1000);
    const count = await pushRecordings(index, options);
    console.log(count === 0 ? `no finished episodes in ${dir}` : `${count} done`);
    return 0;
  } finally {
    await connection.close();
  }
}

/** Reports failures and retries in the next round. */
async function pushAlways(index: RecordingIndex, options: PushOptions, everyMs: number): Promise<number> {
  const ended = new AbortController();
  onEndRequest(() => ended.abort());
  const seen = new Map<string, string>();
  while (!ended.signal.aborted) {
    try {
      await pushRecordings(index, { ...options, seen });
    } catch (error) {
      if (!(error instanceof TeleopError)) throw error;
      console.error(`fleet push: ${error.message}`);
    }
    await sleep(everyMs, undefined, { signal: ended.signal }).catch(() => {});
  }
  return 0;
}

async function pull(given: Given): Promise<number> {
  const robot = robotOf(given);
  const dir = textOf(given, 'recordings') ?? recordDirOf(given);
  const connection = await connected(given, 'me');
  try {
    const target = await placeOf(given, connection, robot, textOf(given, 'from') ?? 'nats');
    const index = new RecordingIndex(connection, robot);
    for (const recording of chosen(await index.list(), given.words.slice(2), target))
      console.log(await pullRecording(target, recording, dir, (text) => console.log(text)));
    return 0;
  } finally {
    await connection.close();
  }
}

/** The requested episodes, or all that the target has. */
function chosen(all: Recording[], episodes: readonly string[], target: ObjectStore): Recording[] {
  for (const id of episodes)
    if (!all.some(({ episode }) => episode === id))
      throw new TeleopError('file-missing', `the fleet has no episode "${id}"`, {
        hint: 'List its episodes with `farhand fleet recordings ROBOT`.',
      });
  if (episodes.length > 0) return all.filter(({ episode }) => episodes.includes(episode));
  return all.filter(({ episode, places }) =>
    places.some(({ where }) => where === target.where(`${episode}.mcap`)),
  );
}

async function recordings(given: Given): Promise<number> {
  const robot = robotOf(given);
  const connection = await connected(given, 'me');
  try {
    const all = await new RecordingIndex(connection, robot).list();
    if (given.values['json'] === true) console.log(JSON.stringify(all));
    else if (all.length === 0) console.log(`no recordings of ${robot}`);
    else for (const each of all) console.log(line(each));
    return 0;
  } finally {
    await connection.close();
  }
}

const line = ({ episode, durationS, sizeBytes, task, label, places, atRobot }: Recording): string =>
  printable(
    [
      episode,
      `${durationS.toFixed(1)} s`.padStart(8),
      `${(sizeBytes / 1e6).toFixed(1)} MB`.padStart(10),
      [...(atRobot ? ['robot'] : []), ...places.map(({ where }) => where)].join(', ') || 'nowhere',
      label === null ? task : `${task} (${label})`,
    ].join('  '),
  );
