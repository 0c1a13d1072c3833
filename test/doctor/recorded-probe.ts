import type { Marks, Probe, SelfTest } from '../../src/doctor/probe.ts';
import type { ListedKey } from '../../src/wire/secure/key-file.ts';

/** Readings of a machine: its files and the output of its programs. Anything not listed is missing. */
export interface Readings {
  uid?: number;
  files?: Record<string, string>;
  /** Output by command line. */
  commands?: Record<string, string>;
  usable?: readonly string[];
  packages?: Record<string, string>;
  selfTest?: SelfTest | string;
  /** Result under real-time priority; default: `selfTest`. */
  privileged?: SelfTest | string;
  marks?: Marks | string;
  taken?: readonly number[];
  keys?: readonly ListedKey[];
  load?: Awaited<ReturnType<Probe['load']>>;
}

const QUICK: SelfTest = {
  stampGapNs: Array.from({ length: 100 }, () => 20e3),
  wakeLateNs: Array.from({ length: 100 }, () => 40e3),
  scheduling: 'normal',
};

const HERE: Marks = {
  where: 'this machine',
  there: 0xb8,
  back: null,
  oneWayMs: null,
  clockUncertaintyMs: null,
};

export function recordedProbe(readings: Readings): Probe {
  const { files = {}, commands = {}, usable = [], packages = {}, taken = [], keys = [] } = readings;
  const paths = [...Object.keys(files), ...usable];
  return {
    platform: 'linux',
    uid: readings.uid ?? 1000,
    read: (path) => files[path] ?? null,
    list: (folder) => [
      ...new Set(
        paths
          .filter((path) => path.startsWith(`${folder}/`))
          .map((path) => path.slice(folder.length + 1).split('/')[0]!),
      ),
    ],
    run: (...words) => commands[words.join(' ')] ?? null,
    mayUse: (path) => usable.includes(path),
    packageVersion: async (name) => packages[name] ?? null,
    selfTest: async (priority) =>
      (priority > 0 ? readings.privileged : undefined) ?? readings.selfTest ?? QUICK,
    marks: async () => readings.marks ?? HERE,
    isFree: async (_kind, port) => !taken.includes(port),
    keys: () => keys,
    load: async () => readings.load ?? null,
  };
}
