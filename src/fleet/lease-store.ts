import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { TeleopError } from '../core/errors.ts';
import type { LeaseEntry } from './lease-guard.ts';
import { loadJetStream, loadKv } from './nats-module.ts';
import { LEASE_BUCKET, LEASE_TTL_MS } from './subjects.ts';

/** A question that a dying server took with it is asked again well before a lease runs out. */
const ANSWER_MS = 1000;
const ATTEMPTS = 5;

/** The leases of a fleet: one entry per robot, forgotten when it is not renewed. */
export class LeaseStore {
  readonly #kv: KV;

  private constructor(kv: KV) {
    this.#kv = kv;
  }

  /**
   * Makes the bucket; needs an administrator's credentials. `replicas`: servers that keep it. It is on disk: in memory,
   * revisions would begin anew when the servers do, and robots would refuse them as old.
   */
  static async create(nats: NatsConnection, replicas = 1): Promise<LeaseStore> {
    const { Kvm } = await loadKv();
    const options = { ttl: LEASE_TTL_MS, history: 1, replicas, storage: 'file' as never };
    return new LeaseStore(await new Kvm(nats).create(LEASE_BUCKET, options));
  }

  /** `site`: the leaf node that keeps the robot's lease; none: the servers that are connected to. */
  static async open(nats: NatsConnection, site?: string): Promise<LeaseStore> {
    const [{ Kvm }, { jetstream }] = [await loadKv(), await loadJetStream()];
    const store = new Kvm(
      jetstream(nats, { timeout: ANSWER_MS, ...(site === undefined ? {} : { domain: site }) }),
    );
    return new LeaseStore(await store.open(LEASE_BUCKET, { allow_direct: true }));
  }

  /** The new revision, or null: somebody holds it, or it changed since. */
  async create(robot: string, holder: string): Promise<number | null> {
    return ours(this.#kv.create(robot, holder));
  }

  async renew(robot: string, holder: string, revision: number): Promise<number | null> {
    return ours(this.#kv.update(robot, holder, revision));
  }

  async release(robot: string, revision: number): Promise<void> {
    await this.#kv.delete(robot, { previousSeq: revision });
  }

  /**
   * Whoever has it, or `holder` where it is given, loses it; null: they had it not. Its holder renews it all the time, so
   * its token may grow meanwhile.
   */
  async takeAway(robot: string, holder?: string): Promise<LeaseEntry | null> {
    for (let left = ATTEMPTS; ; left--) {
      const entry = await this.get(robot);
      if (entry === null || (holder !== undefined && entry.holder !== holder)) return null;
      try {
        await this.release(robot, entry.revision);
        return entry;
      } catch (cause) {
        if (left > 1) continue;
        const hint = 'Its lease was renewed or changed hands at that very moment: try again.';
        throw new TeleopError('lease-held', `${robot} could not be taken away just now`, { hint, cause });
      }
    }
  }

  async get(robot: string): Promise<LeaseEntry | null> {
    const entry = await this.#kv.get(robot);
    if (entry === null || entry.operation !== 'PUT') return null;
    return { holder: entry.string(), revision: entry.revision };
  }
}

/** A refusal by the store is an answer; that it cannot be reached is not. */
async function ours(writing: Promise<number>): Promise<number | null> {
  try {
    return await writing;
  } catch (error) {
    if (/wrong last sequence/.test(String(error))) return null;
    throw error;
  }
}
