/** RTPS constants from DDSI-RTPS 2.3, chapters 8 and 9. Entity ids as big-endian 32-bit numbers. */
export const ENTITY = {
  unknown: 0,
  participant: 0x000001c1,
  spdpWriter: 0x000100c2,
  spdpReader: 0x000100c7,
  publicationsWriter: 0x000003c2,
  publicationsReader: 0x000003c7,
  subscriptionsWriter: 0x000004c2,
  subscriptionsReader: 0x000004c7,
} as const;

/** Low byte of our entity ids: writer and reader of a keyless type, as all ROS 2 types are. */
export const USER_WRITER = 0x03;
export const USER_READER = 0x04;

/** Builtin endpoints that a participant declares. */
export const BUILTIN = {
  participantAnnouncer: 1 << 0,
  participantDetector: 1 << 1,
  publicationsAnnouncer: 1 << 2,
  publicationsDetector: 1 << 3,
  subscriptionsAnnouncer: 1 << 4,
  subscriptionsDetector: 1 << 5,
} as const;

export const OUR_BUILTINS = 0x3f;

export const PID = {
  pad: 0x0000,
  sentinel: 0x0001,
  participantLease: 0x0002,
  topicName: 0x0005,
  typeName: 0x0007,
  domainId: 0x000f,
  protocolVersion: 0x0015,
  vendorId: 0x0016,
  reliability: 0x001a,
  durability: 0x001d,
  partition: 0x0029,
  userData: 0x002c,
  unicastLocator: 0x002f,
  defaultUnicastLocator: 0x0031,
  metatrafficUnicastLocator: 0x0032,
  metatrafficMulticastLocator: 0x0033,
  history: 0x0040,
  participantGuid: 0x0050,
  builtinEndpointSet: 0x0058,
  endpointGuid: 0x005a,
  entityName: 0x0062,
  keyHash: 0x0070,
  statusInfo: 0x0071,
  dataRepresentation: 0x0073,
} as const;

export const SUBMESSAGE = {
  pad: 0x01,
  acknack: 0x06,
  heartbeat: 0x07,
  gap: 0x08,
  infoTimestamp: 0x09,
  infoSource: 0x0c,
  infoDestination: 0x0e,
  infoReply: 0x0f,
  nackFrag: 0x12,
  heartbeatFrag: 0x13,
  data: 0x15,
  dataFrag: 0x16,
} as const;

export const FLAG = {
  little: 1,
  /** DATA flags. */
  inlineQos: 2,
  data: 4,
  key: 8,
  /** DATA_FRAG flags. */
  fragKey: 4,
  /** HEARTBEAT and ACKNACK: no reply requested. */
  final: 2,
  /** INFO_TS flags. */
  noTimestamp: 2,
} as const;

export const PROTOCOL_VERSION = [2, 3] as const;
/** "Unknown" in the standard: we have no vendor id. */
export const VENDOR_ID = [0, 0] as const;
export const DISPOSED_AND_UNREGISTERED = 3;

export const PREFIX_BYTES = 12;
export const GUID_BYTES = 16;
export const MULTICAST_GROUP = '239.255.0.1';
export const MAX_DOMAIN_ID = 232;
export const MAX_PARTICIPANT_ID = 119;

/** Well-known ports of a domain. */
export const discoveryPort = (domainId: number): number => 7400 + 250 * domainId;
export const metatrafficPort = (domainId: number, participantId: number): number =>
  discoveryPort(domainId) + 10 + 2 * participantId;
export const userPort = (domainId: number, participantId: number): number =>
  discoveryPort(domainId) + 11 + 2 * participantId;

/** A datagram destination: IPv4 only. */
export interface Locator {
  host: string;
  port: number;
}

export interface Guid {
  prefix: Uint8Array;
  entity: number;
}

/** Map key. */
export const prefixKey = (prefix: Uint8Array): string => String.fromCharCode(...prefix);
export const guidKey = (prefix: Uint8Array, entity: number): string => `${prefixKey(prefix)}/${entity}`;

export const samePrefix = (a: Uint8Array, b: Uint8Array): boolean => {
  for (let i = 0; i < PREFIX_BYTES; i++) if (a[i] !== b[i]) return false;
  return true;
};
