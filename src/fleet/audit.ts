import type { StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { FleetConnection } from './connection.ts';
import { type Audit, auditSchema, parsed } from './messages.ts';
import { loadJetStream } from './nats-module.ts';
import { AUDIT_STREAM, robotAuditStream, subjects } from './subjects.ts';

const DAY_NS = 86_400e9;
const KEPT_DAYS = 90;
const MAX_BYTES = 256 * 2 ** 20;
const MAX_ROBOT_BYTES = 16 * 2 ** 20;

/** Creates the stream of all users' actions; needs an administrator's credentials. */
export async function createAudit(nats: NatsConnection, replicas = 1): Promise<void> {
  const { jetstreamManager } = await loadJetStream();
  const manager = await jetstreamManager(nats);
  const kept = { max_age: KEPT_DAYS * DAY_NS, max_bytes: MAX_BYTES, num_replicas: replicas };
  const wanted = { name: AUDIT_STREAM, subjects: [subjects.audit('*', '*')], ...kept };
  try {
    await manager.streams.add({ ...wanted, deny_delete: true });
  } catch (error) {
    if (!/already in use/.test(String(error))) throw error;
  }
}

/** Creates the part of it that a robot's operators may read; needs an administrator's credentials. */
export async function createRobotAudit(nats: NatsConnection, robot: string, replicas = 1): Promise<void> {
  const { jetstreamManager } = await loadJetStream();
  const manager = await jetstreamManager(nats);
  const sources = [{ name: AUDIT_STREAM, filter_subject: subjects.audit(robot, '*') }];
  const kept = { max_age: KEPT_DAYS * DAY_NS, max_bytes: MAX_ROBOT_BYTES, num_replicas: replicas };
  try {
    await manager.streams.add({
      ...{ name: robotAuditStream(robot), sources, ...kept },
      ...{ allow_direct: true, deny_delete: true },
    });
  } catch (error) {
    if (!/already in use/.test(String(error))) throw error;
  }
}

/** Publishes an action of the connection's own user. While the broker is unreachable the client queues it. */
export function audit(connection: FleetConnection, robot: string, what: Omit<Audit, 'atMs'>): void {
  if (connection.nats.isClosed()) return;
  const entry: Audit = { ...what, atMs: Date.now() };
  connection.nats.publish(subjects.audit(robot, connection.user), JSON.stringify(entry));
}

export interface AuditLine extends Audit {
  robot: string;
  /** Who reported it; the broker guarantees the name. */
  by: string;
}

/** The newest entries, oldest first; needs an administrator's credentials. `robot`: `*` for all. */
export async function readAudit(nats: NatsConnection, robot: string, most: number): Promise<AuditLine[]> {
  const { jetstreamManager } = await loadJetStream();
  const manager = await jetstreamManager(nats);
  const get = (seq: number) => manager.streams.getMessage(AUDIT_STREAM, { seq });
  const { state } = await manager.streams.info(AUDIT_STREAM);
  return newest(state, get, robot, most, 0);
}

/** The newest entries of one robot, for its operators; needs `createRobotAudit` first. */
export async function readRobotAudit(
  nats: NatsConnection,
  robot: string,
  most: number,
): Promise<AuditLine[]> {
  const { jetstreamManager } = await loadJetStream();
  const manager = await jetstreamManager(nats, { checkAPI: false });
  const stream = robotAuditStream(robot);
  const { state } = await manager.streams.info(stream);
  // The answer itself names the stream once.
  return newest(state, (seq) => manager.direct.getMessage(stream, { seq }), robot, most, 1);
}

/**
 * Skips server replies that a user directed onto an audit subject (the broker does not check reply subjects):
 * such a reply names its stream. `names`: how often a genuine entry does.
 */
async function newest(
  { first_seq, last_seq }: { first_seq: number; last_seq: number },
  get: (seq: number) => Promise<StoredMsg | null>,
  robot: string,
  most: number,
  names: number,
): Promise<AuditLine[]> {
  const lines: AuditLine[] = [];
  for (let seq = last_seq; seq >= Math.max(1, first_seq) && lines.length < most; seq--) {
    const message = await get(seq).catch(() => null);
    if (message === null || (message.header?.values('Nats-Stream') ?? []).length > names) continue;
    const entry = parsed(auditSchema, message.string());
    const [, , about = '', by = ''] = message.subject.split('.');
    if (entry && (robot === '*' || robot === about)) lines.push({ ...entry, robot: about, by });
  }
  return lines.reverse();
}
