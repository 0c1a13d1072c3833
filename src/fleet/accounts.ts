import { subjects } from './subjects.ts';

/**
 * The two accounts of a fleet. STORE has JetStream and the services; USERS has robots and people, and no
 * JetStream. USERS sees of STORE only these subjects, none of JetStream's own. STORE imports nothing: a
 * stream import would keep the reply subject that a sender chose.
 */
const SHARED = [
  { name: 'lease', subject: subjects.lease('*', '*', '*'), type: 'service' },
  { name: 'recordings', subject: subjects.recording('*', '*', '*'), type: 'service' },
  { name: 'log', subject: subjects.log('*', '*'), type: 'service' },
  { name: 'audit', subject: subjects.audit('*', '*'), type: 'service' },
  { name: 'answers', subject: subjects.answer('*', 'store', '*', '*'), type: 'stream' },
  { name: 'recorded', subject: subjects.recorded('*'), type: 'stream' },
  { name: 'leased', subject: subjects.leased('*'), type: 'stream' },
] as const;

const UNLIMITED = {
  ...{ subs: -1, data: -1, payload: -1, imports: -1, exports: -1, conn: -1, leaf: -1 },
  wildcards: true,
} as const;
const STORAGE = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 } as const;

export const systemClaims = () => ({ limits: UNLIMITED });

export const storeClaims = (revocations: Record<string, number>) => ({
  limits: { ...UNLIMITED, ...STORAGE },
  exports: SHARED.map((each) => ({ ...each })),
  revocations,
});

export const usersClaims = (store: string, revocations: Record<string, number>) => ({
  limits: UNLIMITED,
  imports: SHARED.map((each) => ({ ...each, account: store })),
  revocations,
});
