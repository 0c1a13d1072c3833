import { type ConnectOptions, connectFleet, type FleetConnection } from '../connection.ts';
import { LeaseBucket } from '../leases/lease-bucket.ts';
import { signer } from '../leases/lease-keys.ts';
import { LeaseService } from '../leases/lease-service.ts';
import { RosterService } from '../roster/roster-service.ts';
import { covers } from '../subjects.ts';
import { LogService } from './log-service.ts';
import { RecordingService } from './recording-service.ts';
import { Rejections } from './rejections.ts';

export interface ServiceOptions extends ConnectOptions {
  url: string;
  credentials: string;
  /** The private lease key, as PEM. */
  leaseKey: string;
  /** The robots that are served: names, `GROUP/*` or `*`. */
  only?: readonly string[];
  /** Robots that their own site serves. */
  except?: readonly string[];
  /**
   * At a site: its credentials. Requests from the fleet arrive in the account of robots and people, and do
   * not cross into the site's store; its services therefore listen there.
   */
  site?: string | undefined;
  /** Credentials of the roster; without them it does not run. */
  roster?: string | undefined;
}

export interface RunningServices {
  leases: LeaseService;
  connection: FleetConnection;
  /** Resolves when the connection to the broker has ended. */
  ended: Promise<unknown>;
  close(): Promise<void>;
}

/**
 * The services of a fleet's store: leases, recordings, log. Several processes may run them at the same time;
 * they share the work. Recordings have a connection of their own, so that megabytes never delay a lease.
 */
export async function startServices(options: ServiceOptions): Promise<RunningServices> {
  const { url, credentials, leaseKey, only = ['*'], except = [], site } = options;
  const connection = await connectFleet(url, credentials, options);
  const open = [connection];
  try {
    const storing = await connectFleet(url, credentials, options);
    open.push(storing);
    const roster =
      options.roster === undefined
        ? null
        : new RosterService(await connectFleet(url, options.roster, options));
    const bucket = await LeaseBucket.open(connection.nats);
    const outside = site === undefined ? null : await connectFleet(url, site, options);
    if (outside !== null) open.push(outside);
    const isElsewhere = (robot: string) => covers(except, robot);
    const rejections = new Rejections(outside ?? connection);
    const common = { rejections, only, isElsewhere };
    const leases = new LeaseService({
      ...{ ...common, connection: outside ?? connection, bucket, sign: signer(leaseKey) },
      nowMs: () => Date.now(),
    });
    new RecordingService({ ...common, connection: outside ?? storing, store: storing.nats });
    new LogService({ ...common, connection: outside ?? storing, store: storing.nats });
    await Promise.all(open.map(({ nats }) => nats.flush()));
    return {
      leases,
      connection,
      ended: Promise.race(open.map(({ nats }) => nats.closed())),
      async close() {
        leases.close();
        rejections.close();
        await roster?.close();
        if (connection.isConnected()) await connection.nats.flush().catch(() => {});
        await Promise.all(open.map((each) => each.close()));
      },
    };
  } catch (error) {
    await Promise.all(open.map((each) => each.close()));
    throw error;
  }
}
