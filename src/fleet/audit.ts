import type { StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import type { FleetConnection } from './connection.ts';
import { type Audit, auditSchema, parsed } from './messages.ts';
import { loadJetStream } from './nats-module.ts';
import { flatName, sentBy, subjects } from './subjects.ts';

const DAY_NS = 86_400e9;
const KEPT_DAYS = 90;
const MAX_BYTES = 256 * 2 ** 20;
const AUDIT_STREAM = 'AUDIT';
/** The part about one robot, which makes reading it fast. */
const robotAuditStream = (robot: string): string => `${AUDIT_STREAM}_${flatName(robot)}`;
const MAX_ROBOT_BYTES = 16 * 2 ** 20;
/**
 * Of one user about one robot, so that nobody fills the log until other entries fall out of it: at most 5 MB of
 * a robot's 16 and of the fleet's 256. The longest entry has less than 1 kB.
 */
const LIMITS = { max_msg_size: 1024, max_msgs_per_subject: 5000 };
/** Entries of other robots that reading the whole log for one robot passes over. */
const MOST_SKIPPED = 2000;
const ASK_MS = 15_000;
const MAX_ANSWER_BYTES = 1 << 20;

/** Creates the stream of all users' actions, or adapts an older one; needs an administrator's credentials. */
export async function createAudit(nats: NatsConnection, replicas = 1): Promise<void> {
  const { jetstreamManager } = await loadJetStream();
  const manager = await jetstreamManager(nats);
  const kept = { max_age: KEPT_DAYS * DAY_NS, max_bytes: MAX_BYTES, num_replicas: replicas };
  // An acknowledgement would go to a reply subject that the sender chose.
  const rules = { no_ack: true, deny_delete: true, deny_purge: true, allow_rollup_hdrs: false, ...LIMITS };
  const subject = subjects.audit('*', '*');
  try {
    await manager.streams.add({ name: AUDIT_STREAM, subjects: [subject], ...kept, ...rules });
  } catch (error) {
    if (!/already in use/.test(String(error))) throw error;
    await manager.streams.update(AUDIT_STREAM, { subjects: [subject], ...rules });
  }
}

/** Creates the part of it about one robot, or adapts an older one; needs an administrator's credentials. */
export async function createRobotAudit(nats: NatsConnection, robot: string, replicas = 1): Promise<void> {
  const { jetstreamManager } = await loadJetStream();
  const manager = await jetstreamManager(nats);
  const sources = [{ name: AUDIT_STREAM, filter_subject: subjects.audit(robot, '*') }];
  const kept = { max_age: KEPT_DAYS * DAY_NS, max_bytes: MAX_ROBOT_BYTES, num_replicas: replicas };
  const name = robotAuditStream(robot);
  try {
    await manager.streams.add({
      ...{ name, sources, ...kept, ...LIMITS },
      deny_delete: true,
      deny_purge: true,
    });
  } catch (error) {
    if (!/already in use/.test(String(error))) throw error;
    await manager.streams.update(name, { sources, ...LIMITS });
  }
}

/** Publishes an action of the connection's own user. While the broker is unreachable the client queues it. */
export function audit(connection: FleetConnection, robot: string, what: Omit<Audit, 'atMs'>): void {
  if (connection.nats.isClosed()) return;
  const entry: Audit = { ...what, atMs: Date.now() };
  connection.nats.publish(subjects.audit(robot, connection.user), JSON.stringify(entry));
}

const lineSchema = auditSchema.extend({
  robot: z.string().max(128),
  /** Who reported it; the broker guarantees the name. */
  by: z.string().max(64),
  /** When the store received it. `atMs` is what the sender's clock said, or the sender. */
  storedMs: z.number().min(0).max(8.64e15).optional(),
});
export type AuditLine = z.infer<typeof lineSchema>;
const answerSchema = z.object({ ok: z.boolean(), lines: z.array(lineSchema).default([]) });

/** The newest entries, oldest first; needs credentials of the store. `robot`: `*` for all. */
export async function readAudit(nats: NatsConnection, robot: string, most: number): Promise<AuditLine[]> {
  const { jetstreamManager } = await loadJetStream();
  const manager = await jetstreamManager(nats, { checkAPI: false });
  const read = async (stream: string) => {
    const { state } = await manager.streams.info(stream);
    const get = (seq: number) => manager.streams.getMessage(stream, { seq }).catch(() => null);
    return newest(state, get, robot, most);
  };
  if (robot === '*') return read(AUDIT_STREAM);
  return read(robotAuditStream(robot)).catch(() => read(AUDIT_STREAM));
}

async function newest(
  { first_seq, last_seq }: { first_seq: number; last_seq: number },
  get: (seq: number) => Promise<StoredMsg | null>,
  robot: string,
  most: number,
): Promise<AuditLine[]> {
  const lines: AuditLine[] = [];
  const first = Math.max(1, first_seq, last_seq - most - MOST_SKIPPED);
  for (let seq = last_seq; seq >= first && lines.length < most; seq--) {
    const message = await get(seq);
    const entry = message && parsed(auditSchema, message.string());
    if (!entry) continue;
    const { robot: about, user: by } = writtenBy(message.subject);
    if (robot === '*' || robot === about)
      lines.push({ ...entry, robot: about, by, storedMs: message.time.getTime() });
  }
  return lines.reverse();
}

/** Entries from before robots had groups have one token less. */
function writtenBy(subject: string): { robot: string; user: string } {
  const tokens = subject.split('.');
  return tokens.length === 4 ? { robot: tokens[2]!, user: tokens[3]! } : sentBy(subject);
}

/** The newest entries of one robot, through the fleet's service. */
export async function askAudit(
  connection: FleetConnection,
  robot: string,
  most: number,
): Promise<AuditLine[]> {
  const subject = subjects.log(robot, connection.user);
  const request = { subject, by: 'store', robot, head: { most }, timeoutMs: ASK_MS } as const;
  const answer = await connection.request(request);
  const found = parseJson(answer.head, answerSchema, MAX_ANSWER_BYTES);
  if (typeof found !== 'string' && found.ok) return found.lines;
  throw new TeleopError('fleet-unreachable', `the log of ${robot} cannot be read`, {
    hint: 'Try again. If this persists, check the servers and `farhand fleet serve`.',
  });
}
