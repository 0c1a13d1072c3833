import { createHash } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';

/**
 * A client that tries everything: every subject of JetStream, of the system and of the product, its own and
 * others', with every kind of reply subject, body and header. It knows the broker's protocol, not ours: it
 * uses none of the product's code.
 */

export interface Target {
  /** Public key of the account that holds the streams. */
  account: string;
  streams: readonly string[];
  /** Of the lease bucket, as the stream is named. */
  leases: string;
}

const API = [
  ...['STREAM.CREATE', 'STREAM.UPDATE', 'STREAM.DELETE', 'STREAM.PURGE', 'STREAM.INFO', 'STREAM.MSG.DELETE'],
  ...['STREAM.MSG.GET', 'STREAM.SNAPSHOT', 'STREAM.RESTORE', 'STREAM.PEER.REMOVE', 'STREAM.LEADER.STEPDOWN'],
  ...['CONSUMER.CREATE', 'CONSUMER.NAMES', 'CONSUMER.LIST', 'DIRECT.GET'],
];

const callsOn = (stream: string): string[] => [
  ...API.map((call) => `$JS.API.${call}.${stream}`),
  ...['DURABLE.CREATE', 'DELETE', 'INFO', 'MSG.NEXT', 'LEADER.STEPDOWN', 'RESET', 'PAUSE', 'UNPIN'].map(
    (call) => `$JS.API.CONSUMER.${call}.${stream}.d`,
  ),
  ...[`$JS.API.CONSUMER.CREATE.${stream}.d.>`, `$JS.ACK.${stream}.d.1.1.1.1.1`, `$JS.FC.${stream}.d.x`],
  ...[`$JS.SNAPSHOT.ACK.${stream}.x`, `$JS.fleet.API.STREAM.DELETE.${stream}`],
];

const ofTheServer = (account: string): string[] => [
  ...['INFO', 'ACCOUNT.INFO', 'STREAM.NAMES', 'STREAM.LIST', `ACCOUNT.PURGE.${account}`].map(
    (c) => `$JS.API.${c}`,
  ),
  ...[`ACCOUNT.STREAM.MOVE.${account}.KV_grants`, 'SERVER.REMOVE', 'META.LEADER.STEPDOWN'].map(
    (c) => `$JS.API.${c}`,
  ),
  ...[
    '$JSC.R.x',
    '$JSC.CI.x',
    '$NRG.AE.x',
    '_R_.x.y',
    '_GR_.x.y.z',
    '$GR.x',
    '$SRV.PING',
    '$MQTT.sub.x',
    '$LDS.x',
  ],
  ...['USER.INFO', 'SERVER.PING', 'SERVER.PING.CONNZ', 'SERVER.PING.JSZ', `ACCOUNT.${account}.CONNZ`].map(
    (call) => `$SYS.REQ.${call}`,
  ),
  ...[
    'ACCOUNT.PING.CONNZ',
    'CLAIMS.UPDATE',
    'CLAIMS.DELETE',
    'CLAIMS.PACK',
    'SERVER.x.RELOAD',
    'SERVER.x.KICK',
  ].map((call) => `$SYS.REQ.${call}`),
  ...['$SYS.DEBUG.SUBSCRIBERS', `$SYS.ACCOUNT.${account}.CONNECT`, '$SYS.SERVER.x.SHUTDOWN', '$SYS._INBOX.x'],
  ...['$KV.grants._.arm-1', '$KV.grants._.arm-3', '$KV.grants.*.*', '$KV.leases.arm-1', '$KV.leases.arm-3'],
  ...[
    '$O.recordings_arm-1.C.x',
    '$O.recordings_arm-3.C.x',
    '$O.recordings_arm-3.M.x',
    'farhand.recording.arm-3.e1',
  ],
  ...['_INBOX.bob.1', '_INBOX.service.1', '>', '*', 'farhand.>'],
];

const aboutRobot = (robot: string, user: string): string[] => [
  ...['presence', 'telemetry', 'event', 'leased', 'recorded'].map((kind) => `farhand.${kind}._.${robot}`),
  ...['signal', 'estop', 'ask', 'audit', 'log'].map((kind) => `farhand.${kind}._.${robot}.${user}`),
  ...['take', 'renew', 'release', 'away', 'look', 'keep', 'drop'].map(
    (v) => `farhand.lease.${v}._.${robot}.${user}`,
  ),
  ...['put', 'get', 'list'].map((verb) => `farhand.rec.${verb}._.${robot}.${user}`),
  ...['store', 'robot'].map((by) => `farhand.answer.${user}.${by}._.${robot}.1`),
];

const subjectsOf = (user: string, { streams, account }: Target): string[] => [
  ...streams.flatMap(callsOn),
  ...ofTheServer(account),
  ...['arm-1', 'arm-3'].flatMap((robot) => [user, 'bob', robot].flatMap((who) => aboutRobot(robot, who))),
];

const repliesOf = (user: string, { account, leases }: Target): (string | undefined)[] => [
  ...[undefined, `_INBOX.${user}.1`, `farhand.answer.${user}.store._.arm-1.9`],
  ...['OBJ_recordings_arm-3', leases].map((stream) => `$JS.API.STREAM.DELETE.${stream}`),
  ...[`$JS.API.STREAM.PURGE.${leases}`, '$KV.grants._.arm-3', '$KV.leases.arm-3', '$O.recordings_arm-3.C.x'],
  ...[`$JS.API.ACCOUNT.PURGE.${account}`, 'farhand.estop._.arm-3.bob', 'farhand.signal._.arm-3.bob'],
  ...['farhand.presence._.arm-3', 'farhand.answer.bob.store._.arm-3.1', 'farhand.lease.away._.arm-3.bob'],
  ...['farhand.audit._.arm-3.bob', 'farhand.leased._.arm-3', '_R_.a.b'],
];

const BODIES = [
  '',
  '{}',
  JSON.stringify({
    ...{
      id: 'x1',
      kind: 'greet',
      seen: 9e15,
      token: 77,
      filter: '>',
      name: 'KV_grants',
      subjects: ['>'],
      seq: 1,
    },
    ...{ last_by_subj: '$KV.grants._.arm-3', stream_name: 'KV_grants', after: '', most: 5, key: 'mine' },
    config: { deliver_subject: 'farhand.estop._.arm-3.bob', ack_policy: 'none', durable_name: 'd' },
  }),
];

const HEADERS: (Record<string, string> | null)[] = [
  null,
  { 'Nats-Rollup': 'all' },
  { 'KV-Operation': 'PURGE', 'Nats-Rollup': 'sub' },
  { 'Nats-Trace-Dest': 'farhand.estop._.arm-3.bob' },
];

const FOREIGN = [
  ...['>', '*', 'farhand.>', 'farhand.presence._.arm-3', 'farhand.signal._.arm-3.*', 'farhand.answer.bob.>'],
  ...['_R_.>', '$JS.>', '$SYS.>', '$KV.>', '_INBOX.>'],
];

const matcher = (allowed: readonly string[]) => {
  const patterns = allowed.map((subject) => {
    const text = subject.replace(/[.$]/g, '\\$&').replaceAll('*', '[^.]+').replace(/>$/, '.+');
    return new RegExp(`^${text}$`);
  });
  return (subject: string) => patterns.some((pattern) => pattern.test(subject));
};

export interface Attack {
  attempts: number;
  /** Attempts that the permissions forbid. */
  forbidden: number;
  subscriptions: number;
  /** Whether a subject is one that the attacker may publish. */
  isOwn(subject: string): boolean;
}

/** Tries everything with one user's connection. `allowed`: the subjects that it may publish. */
export async function attack(
  nats: NatsConnection,
  user: string,
  allowed: readonly string[],
  target: Target,
): Promise<Attack> {
  const isOwn = matcher(allowed);
  const done: Attack = { attempts: 0, forbidden: 0, subscriptions: FOREIGN.length, isOwn };
  const made = HEADERS.map((values) => values && headersOf(values));
  for (const subject of subjectsOf(user, target))
    for (const reply of repliesOf(user, target))
      for (const body of BODIES)
        for (const each of made) {
          try {
            nats.publish(subject, body, { ...(reply && { reply }), ...(each && { headers: each }) });
          } catch {
            // The library itself rejects some.
            continue;
          }
          done.attempts++;
          if (!isOwn(subject)) done.forbidden++;
          if (done.attempts % 500 === 0) await nats.flush();
        }
  for (const subject of FOREIGN) nats.subscribe(subject, { callback() {} });
  await nats.flush();
  return done;
}

function headersOf(values: Record<string, string>): MsgHdrs {
  const made = headers();
  for (const [key, value] of Object.entries(values)) made.set(key, value);
  return made;
}

/** Everything that a store holds, as text by name. The log may only grow. */
export async function contents(store: NatsConnection, bucket: string): Promise<Map<string, string>> {
  const manager = await jetstreamManager(store);
  const found = new Map<string, string>();
  for await (const { config, state } of manager.streams.list()) {
    const { messages, first_seq, last_seq, consumer_count, num_deleted = 0 } = state;
    const settings = createHash('sha256').update(JSON.stringify(config)).digest('hex');
    const isLog = config.name === 'AUDIT';
    const isLeases = config.name === `KV_${bucket}`;
    // Heartbeats of the lease service change its bucket all the time; its entries are compared below.
    const counts = isLog || isLeases ? [] : [messages, last_seq, num_deleted];
    found.set(
      config.name,
      JSON.stringify([settings, isLeases ? 0 : Math.max(1, first_seq), consumer_count, ...counts]),
    );
  }
  const kv = await new Kvm(store).open(bucket).catch(() => null);
  for (const robot of ['_.arm-1', '_.arm-3', 'arm-1', 'arm-3']) {
    const entry = await kv?.get(robot).catch(() => null);
    found.set(`lease ${robot}`, entry?.operation === 'PUT' ? entry.string() : 'none');
  }
  return found;
}

export const differences = (before: Map<string, string>, after: Map<string, string>): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name));
