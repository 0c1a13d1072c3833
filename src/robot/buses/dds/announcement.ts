import { CdrWriter, ENCAPSULATION } from '../../../core/cdr.ts';
import { encodeParticipant } from './discovery-data.ts';
import { discoveryPort, ENTITY, MULTICAST_GROUP, OUR_BUILTINS, PID } from './ids.ts';
import { putGuid, putSentinel } from './parameter-list.ts';

const LEASE_S = 10;

export interface ParticipantOptions {
  domainId: number;
  /** 12 globally unique bytes. */
  prefix: Uint8Array;
  name: string;
  /** Our address and listening ports. */
  address: string;
  metatrafficPort: number;
  userPort: number;
  /** Hosts to announce to in addition to the multicast group. */
  peers: readonly string[];
}

/** A participant's announcement of itself. */
export function encodeAnnouncement(options: ParticipantOptions): Uint8Array {
  const { domainId, prefix, name, address: host, metatrafficPort: port, userPort } = options;
  const out = new CdrWriter(new Uint8Array(1024));
  const user = [{ host, port: userPort }];
  const self = { domainId, prefix, name, leaseS: LEASE_S, builtins: OUR_BUILTINS, user };
  const multicast = { host: MULTICAST_GROUP, port: discoveryPort(domainId) };
  encodeParticipant({ ...self, metatraffic: [{ host, port }] }, multicast, out);
  return out.bytes.slice(0, out.length);
}

/** The key of a participant that is leaving. */
export function encodeLeave({ prefix }: ParticipantOptions): Uint8Array {
  const out = new CdrWriter(new Uint8Array(64));
  out.begin(ENCAPSULATION.plCdrLe);
  putGuid(out, PID.participantGuid, prefix, ENTITY.participant);
  putSentinel(out);
  return out.bytes.slice(0, out.length);
}
