import type { NatsConnection } from '@nats-io/transport-node';
import { type Audit, auditSchema, parsed } from '../../fleet/messages.ts';
import { AUDIT_STREAM, subjects } from '../../fleet/subjects.ts';
import type { FleetConnection } from './connection.ts';
import { loadJetStream } from './nats-module.ts';

const DAY_NS = 86_400e9;
const KEPT_DAYS = 90;
const MAX_BYTES = 256 * 2 ** 20;

/** Makes the stream that keeps what everybody did; needs an administrator's credentials. */
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

/** Tells what was done, in the name of the connection's own user. While the broker is away it is kept for later. */
export function audit(connection: FleetConnection, robot: string, what: Omit<Audit, 'atMs'>): void {
  if (connection.nats.isClosed()) return;
  const entry: Audit = { ...what, atMs: Date.now() };
  connection.nats.publish(subjects.audit(robot, connection.user), JSON.stringify(entry));
}

export interface AuditLine extends Audit {
  robot: string;
  /** Who told it; the broker vouches for it. */
  by: string;
}

/** The newest entries, oldest first; needs an administrator's credentials. */
export async function readAudit(nats: NatsConnection, robot: string, most: number): Promise<AuditLine[]> {
  const { jetstreamManager } = await loadJetStream();
  const manager = await jetstreamManager(nats);
  const { state } = await manager.streams.info(AUDIT_STREAM);
  const lines: AuditLine[] = [];
  for (let seq = state.last_seq; seq >= Math.max(1, state.first_seq) && lines.length < most; seq--) {
    const message = await manager.streams.getMessage(AUDIT_STREAM, { seq }).catch(() => null);
    const entry = message && parsed(auditSchema, message.string());
    const [, , about = '', by = ''] = message?.subject.split('.') ?? [];
    if (entry && (robot === '*' || robot === about)) lines.push({ ...entry, robot: about, by });
  }
  return lines.reverse();
}
