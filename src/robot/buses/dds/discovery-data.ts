import { type CdrReader, type CdrWriter, ENCAPSULATION } from '../../../core/cdr.ts';
import { ENTITY, type Guid, type Locator, OUR_BUILTINS, PID, PROTOCOL_VERSION, VENDOR_ID } from './ids.ts';
import {
  putDuration,
  putGuid,
  putLocator,
  putParameter,
  putSentinel,
  readDuration,
  readGuid,
  readLocator,
  walkPayload,
} from './parameter-list.ts';

const MAX_LOCATORS = 16;
const MAX_NAME = 256;
const MAX_USER_DATA = 1024;
const BEST_EFFORT = 1;
const RELIABLE = 2;
const KEEP_LAST = 0;
const XCDR1 = 0;
/** Longer leases are capped to this. */
const MAX_LEASE_S = 300;
const DEFAULT_LEASE_S = 100;

/** A participant as it announces itself. */
export interface ParticipantData {
  prefix: Uint8Array;
  name: string;
  domainId: number | null;
  leaseS: number;
  builtins: number;
  metatraffic: Locator[];
  user: Locator[];
}

export interface TopicQos {
  reliable: boolean;
  /** Late joiners receive earlier samples. */
  transientLocal: boolean;
}

/** A writer or reader as announced. */
export interface EndpointData extends TopicQos {
  guid: Guid;
  topic: string;
  type: string;
  depth: number;
  /** Free bytes; ROS 2 puts the type hash there. */
  userData: string;
  /** Empty: use the participant's. */
  locators: Locator[];
  partitions: string[];
  /** Whether it uses plain CDR version 1. */
  plainCdr: boolean;
}

const pushLocator = (list: Locator[], value: CdrReader): void => {
  const locator = readLocator(value);
  if (locator !== null && list.length < MAX_LOCATORS) list.push(locator);
};

export function encodeParticipant(data: ParticipantData, multicast: Locator, out: CdrWriter): void {
  out.begin(ENCAPSULATION.plCdrLe);
  putParameter(out, PID.protocolVersion, () => out.raw(Uint8Array.from(PROTOCOL_VERSION)));
  putParameter(out, PID.vendorId, () => out.raw(Uint8Array.from(VENDOR_ID)));
  putGuid(out, PID.participantGuid, data.prefix, ENTITY.participant);
  putParameter(out, PID.domainId, () => out.u32(data.domainId ?? 0));
  putParameter(out, PID.participantLease, () => putDuration(out, data.leaseS));
  putParameter(out, PID.builtinEndpointSet, () => out.u32(OUR_BUILTINS));
  for (const locator of data.metatraffic) putLocator(out, PID.metatrafficUnicastLocator, locator);
  putLocator(out, PID.metatrafficMulticastLocator, multicast);
  for (const locator of data.user) putLocator(out, PID.defaultUnicastLocator, locator);
  putParameter(out, PID.entityName, () => out.string(data.name));
  putSentinel(out);
}

export function decodeParticipant(payload: Uint8Array): ParticipantData | null {
  let guid: Guid | null = null;
  const data: Omit<ParticipantData, 'prefix'> = {
    name: '',
    domainId: null,
    leaseS: DEFAULT_LEASE_S,
    builtins: 0,
    metatraffic: [],
    user: [],
  };
  const whole = walkPayload(payload, (id, value) => {
    if (id === PID.participantGuid) guid = readGuid(value);
    else if (id === PID.domainId) data.domainId = value.u32();
    else if (id === PID.participantLease) data.leaseS = readDuration(value);
    else if (id === PID.builtinEndpointSet) data.builtins = value.u32();
    else if (id === PID.metatrafficUnicastLocator) pushLocator(data.metatraffic, value);
    else if (id === PID.defaultUnicastLocator) pushLocator(data.user, value);
    else if (id === PID.entityName) data.name = value.string().slice(0, MAX_NAME);
  });
  if (!whole || guid === null) return null;
  data.leaseS = Math.max(0, Math.min(MAX_LEASE_S, data.leaseS));
  return { prefix: (guid as Guid).prefix, ...data };
}

export function encodeEndpoint(data: EndpointData, out: CdrWriter): void {
  out.begin(ENCAPSULATION.plCdrLe);
  putGuid(out, PID.endpointGuid, data.guid.prefix, data.guid.entity);
  putGuid(out, PID.participantGuid, data.guid.prefix, ENTITY.participant);
  putParameter(out, PID.topicName, () => out.string(data.topic));
  putParameter(out, PID.typeName, () => out.string(data.type));
  putParameter(out, PID.reliability, () => {
    out.u32(data.reliable ? RELIABLE : BEST_EFFORT);
    putDuration(out, 0.1);
  });
  putParameter(out, PID.durability, () => out.u32(data.transientLocal ? 1 : 0));
  putParameter(out, PID.history, () => {
    out.u32(KEEP_LAST);
    out.u32(data.depth);
  });
  for (const locator of data.locators) putLocator(out, PID.unicastLocator, locator);
  putParameter(out, PID.dataRepresentation, () => {
    out.u32(1);
    out.u16(XCDR1);
  });
  if (data.userData !== '')
    putParameter(out, PID.userData, () => {
      const bytes = new TextEncoder().encode(data.userData);
      out.u32(bytes.length);
      out.raw(bytes);
    });
  putSentinel(out);
}

/** `kind` decides the default reliability. */
export function decodeEndpoint(payload: Uint8Array, kind: 'writer' | 'reader'): EndpointData | null {
  let guid: Guid | null = null;
  const data: Omit<EndpointData, 'guid'> = {
    topic: '',
    type: '',
    reliable: kind === 'writer',
    transientLocal: false,
    depth: 1,
    userData: '',
    locators: [],
    partitions: [],
    plainCdr: true,
  };
  const whole = walkPayload(payload, (id, value) => {
    if (id === PID.endpointGuid) guid = readGuid(value);
    else if (id === PID.topicName) data.topic = value.string();
    else if (id === PID.typeName) data.type = value.string();
    else if (id === PID.reliability) data.reliable = value.u32() === RELIABLE;
    else if (id === PID.durability) data.transientLocal = value.u32() >= 1;
    else if (id === PID.history) {
      value.u32();
      data.depth = value.u32();
    } else if (id === PID.unicastLocator) pushLocator(data.locators, value);
    else if (id === PID.partition) data.partitions = value.strings();
    else if (id === PID.userData)
      data.userData = String.fromCharCode(...value.bytes(Math.min(MAX_USER_DATA, value.count(1))));
    else if (id === PID.dataRepresentation) data.plainCdr = readsPlainCdr(value);
  });
  if (!whole || guid === null || data.topic === '') return null;
  if (data.topic.length > MAX_NAME || data.type.length > MAX_NAME) return null;
  return { guid, ...data };
}

function readsPlainCdr(value: CdrReader): boolean {
  const count = value.count(2);
  let plain = count === 0;
  for (let i = 0; i < count; i++) plain = value.u16() === XCDR1 || plain;
  return plain;
}

/** Why a writer and a reader of one topic do not match; null when they do. */
export function mismatch(
  writer: EndpointData,
  reader: EndpointData,
): 'type-mismatch' | 'qos-mismatch' | null {
  if (writer.type !== reader.type) return 'type-mismatch';
  if (reader.reliable && !writer.reliable) return 'qos-mismatch';
  if (reader.transientLocal && !writer.transientLocal) return 'qos-mismatch';
  if (!reader.plainCdr || !writer.plainCdr) return 'qos-mismatch';
  const named = (partitions: readonly string[]) => partitions.some((name) => name !== '');
  return named(writer.partitions) || named(reader.partitions) ? 'qos-mismatch' : null;
}

/** Picks the locator that a machine with address `own` reaches best. */
export function reachable(locators: readonly Locator[], own: string): Locator | null {
  const isLoopback = (host: string) => host.startsWith('127.');
  const usable = locators.filter(({ host }) => isLoopback(host) === isLoopback(own));
  const shared = (host: string): number => {
    const [a, b] = [host.split('.'), own.split('.')];
    let parts = 0;
    while (parts < 4 && a[parts] === b[parts]) parts++;
    return parts;
  };
  return usable.reduce<Locator | null>(
    (best, locator) => (best === null || shared(locator.host) > shared(best.host) ? locator : best),
    null,
  );
}
