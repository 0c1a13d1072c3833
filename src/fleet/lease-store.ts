import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { TeleopError } from '../core/errors.ts';
import type { LeaseEntry } from './lease-guard.ts';
import { loadJetStream, loadKv } from './nats-module.ts';
import { LEASE_BUCKET, LEASE_TTL_MS } from './subjects.ts';

/** A request lost with a dying server is repeated well before a lease expires. */
const ANSWER_MS = 1000;
const ATTEMPTS = 5;

/** The leases of a fleet: one entry per robot, dropped when it is not renewed. */
export class LeaseStore {
  readonly #kv: KV;

  private constructor(kv: KV) {
    this.#kv = kv;
  }

  /**
   * Creates the bucket; needs an administrator's credentials. `replicas`: servers that keep it. It is on
   * disk: in memory, revisions would start over with the servers, and robots would reject them as old.
   */
  static async create(nats: NatsConnection, replicas = 1): Promise<LeaseStore> {
    const { Kvm } = await loadKv();
    const options = { ttl: LEASE_TTL_MS, history: 1, replicas, storage: 'file' as never };
    return new LeaseStore(await new Kvm(nats).create(LEASE_BUCKET, options));
  }

  /** `site`: the leaf node that keeps the robot's lease; default: the connected servers. */
  static async open(nats: NatsConnection, site?: string): Promise<LeaseStore> {
    const [{ Kvm }, { jetstream }] = [await loadKv(), await loadJetStream()];
    const store = new Kvm(
      jetstream(nats, { timeout: ANSWER_MS, ...(site === undefined ? {} : { domain: site }) }),
    );
    return new LeaseStore(await store.open(LEASE_BUCKET, { allow_direct: true }));
  }

  /** The new revision, or null: it has a holder, or it changed meanwhile. */
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
   * Takes the lease from its holder, or only from `holder` if given; null: there was none to take. The holder
   * keeps renewing it, so its token may increase meanwhile.
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
        const hint = 'Its lease was renewed or changed hands at that moment: try again.';
        throw new TeleopError('lease-held', `the lease of ${robot} could not be taken away`, { hint, cause });
      }
    }
  }

  async get(robot: string): Promise<LeaseEntry | null> {
    const entry = await this.#kv.get(robot);
    if (entry === null || entry.operation !== 'PUT') return null;
    return { holder: entry.string(), revision: entry.revision };
  }
}

/** A rejection by the store is an answer; a failure to reach it is not. */
async function ours(writing: Promise<number>): Promise<number | null> {
  try {
    return await writing;
  } catch (error) {
    if (/wrong last sequence/.test(String(error))) return null;
    throw error;
  }
}
