import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { parseJson } from '../../core/parse-json.ts';
import { loadJetStream, loadKv } from '../nats-module.ts';
import { addressOf } from '../subjects.ts';
import type { LeaseEntry } from './lease-rules.ts';

export const LEASE_BUCKET = 'grants';
/** Of a fleet from before leases had a service; they expired by themselves. */
const OLD_STREAM = 'KV_leases';
const ANSWER_MS = 2000;
const MAX_ENTRY_BYTES = 1024;

const entrySchema = z.strictObject({
  ...{ user: z.string(), key: z.string(), token: z.int().min(0), atMs: z.number() },
});

/** The leases of a fleet: one entry per robot, never removed. Only the lease service writes here. */
export class LeaseBucket {
  readonly #kv: KV;

  private constructor(kv: KV) {
    this.#kv = kv;
  }

  /** Creates it; needs an administrator's credentials. `replicas`: servers that keep it, on disk. */
  static async create(nats: NatsConnection, replicas = 1): Promise<void> {
    const [{ Kvm }, { jetstreamManager }] = [await loadKv(), await loadJetStream()];
    await new Kvm(nats).create(LEASE_BUCKET, { history: 1, replicas, storage: 'file' as never });
    const manager = await jetstreamManager(nats);
    await manager.streams.delete(OLD_STREAM).catch(() => {});
  }

  static async open(nats: NatsConnection): Promise<LeaseBucket> {
    const [{ Kvm }, { jetstream }] = [await loadKv(), await loadJetStream()];
    const kvm = new Kvm(jetstream(nats, { timeout: ANSWER_MS }));
    return new LeaseBucket(await kvm.open(LEASE_BUCKET, { allow_direct: true }));
  }

  /** Revision 0: the robot never had a lease. Rejects if the store is away. */
  async get(robot: string): Promise<{ entry: LeaseEntry | null; revision: number }> {
    const found = await this.#kv.get(addressOf(robot));
    if (found === null) return { entry: null, revision: 0 };
    const entry =
      found.operation === 'PUT' ? parseJson(found.value, entrySchema, MAX_ENTRY_BYTES) : 'removed';
    return { entry: typeof entry === 'string' ? null : entry, revision: found.revision };
  }

  /** False: it changed since that revision. Rejects if the store is away. */
  async put(robot: string, entry: LeaseEntry, revision: number): Promise<boolean> {
    try {
      await this.#kv.put(addressOf(robot), JSON.stringify(entry), { previousSeq: revision });
      return true;
    } catch (error) {
      if (/wrong last sequence/.test(String(error))) return false;
      throw error;
    }
  }

  /** A write that shows whether the store can be written. `name`: of one service. */
  async beat(name: string): Promise<void> {
    await this.#kv.put(`beat.${name}`, '');
  }
}
