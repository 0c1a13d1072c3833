import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { openLink } from '../../check/kind.ts';
import type { Place } from '../../check/place.ts';
import { TeleopError } from '../../core/errors.ts';
import { writeWhole } from '../../files/write-whole.ts';
import { loadRig } from '../../rig/rig.ts';
import {
  compareTransports,
  type TcpCounts,
  type Transport,
  type TransportComparison,
} from '../compare-transports.ts';
import { openEmulatedPlace } from './emulated-place.ts';
import { type CheckOptions, checkSession } from './run-check.ts';
import { runSession } from './run-session.ts';

export interface CompareOnOptions extends CheckOptions {
  transports: readonly Transport[];
  slices: number;
  /** All transports at the same time, each with a link of its own. */
  together?: boolean;
}

export type LinkComparison = TransportComparison & { kind: string; about: string };

/** The transports in turn over one link, `slices` windows of each within the requested time. */
export async function compareOn(
  options: CompareOnOptions,
): Promise<{ result: LinkComparison; file: string }> {
  const { kind, rig, overrides, transports, slices, durationS, robotHost, onPhase, onProgress } = options;
  rejectRemote(robotHost);
  const secondsPerSlice = Math.max(1, durationS / (transports.length * slices));
  await checkSession(options);
  const { place: sample, about } = openLink(kind, robotHost);
  sample.close();
  onPhase(
    `comparing ${transports.join(', ')} over ${about}: ${slices} windows of ${secondsPerSlice.toFixed(1)} s each`,
  );
  const found = await compareTransports({
    rig,
    overrides,
    transports,
    slices,
    secondsPerSlice,
    onProgress,
    together: options.together ?? false,
    run: (given, seconds, slice, ready) => runSlice(options, given, seconds, slice, ready),
  });
  const result = { kind, about, ...found };
  return { result, file: writeComparison(loadRig(rig, overrides).config.trace.dir, result) };
}

/** Every slice has its own weather, the same for all transports. */
async function runSlice(
  options: CompareOnOptions,
  overrides: readonly string[],
  durationS: number,
  slice: number,
  ready: () => Promise<void>,
): Promise<{ tracePath: string; fromNs: number; tcp: TcpCounts | null }> {
  const { place, profile } = openLink(options.kind, options.robotHost);
  const emulated = profile === null ? null : await openEmulatedPlace(profile, slice + 1);
  const used = emulated ?? place;
  const onReady = async () => {
    await ready();
    await emulated?.restart();
  };
  const quiet = { onPhase: () => {}, onProgress: () => {}, baseline: false, profile: null, settleS: 0 };
  try {
    const session = await runSession({ ...options, ...quiet, place: used, overrides, durationS, onReady });
    if (session.isCutShort)
      throw new TeleopError('not-confirmed', 'the comparison was interrupted', {
        hint: 'Let it finish, or make it shorter: --duration S --slices N.',
      });
    return { tracePath: session.tracePath, fromNs: session.fromNs, tcp: tcpCounts(used) };
  } finally {
    await used.close();
  }
}

/** What the kernels of a place's two namespaces counted, which began with it; null on loopback. */
function tcpCounts(place: Pick<Place, 'at'>): TcpCounts | null {
  const counted = (side: 'tx' | 'rx') => {
    const [command, ...rest] = place.at(side, ['cat', '/proc/net/snmp', '/proc/net/netstat']);
    return command === 'cat' ? null : countersOf(execFileSync(command!, rest, { encoding: 'utf8' }));
  };
  const [tx, rx] = [counted('tx'), counted('rx')];
  if (tx === null || rx === null) return null;
  const both = (name: string) => (tx.get(name) ?? 0) + (rx.get(name) ?? 0);
  return { retransmitted: both('RetransSegs'), timeouts: both('TCPTimeouts') };
}

/** Lines come in pairs: names, then numbers. */
function countersOf(text: string): Map<string, number> {
  const lines = text.split('\n').map((line) => line.split(' ').slice(1));
  const found = new Map<string, number>();
  for (let i = 0; i + 1 < lines.length; i += 2)
    for (const [column, name] of lines[i]!.entries()) found.set(name, Number(lines[i + 1]![column]));
  return found;
}

function rejectRemote(robotHost: string | null): void {
  if (robotHost === null) return;
  throw new TeleopError('bad-option', 'cannot switch the transport of a robot on another machine', {
    hint: 'Run `farhand robot link.transport=udp` and then zmq there, and `farhand check` here with the same setting each time.',
  });
}

function writeComparison(dir: string, result: object): string {
  const stamp = new Date().toISOString().replace(/[-:]/g, '').slice(0, 15);
  const folder = dir === '' ? '.' : dir;
  const file = path.join(folder, `transports_${stamp}.check.json`);
  writeWhole(file, `${JSON.stringify(result, null, 2)}\n`, {
    folderMode: 0o755,
    hint: 'Choose another folder with trace.dir=FOLDER.',
  });
  return file;
}
