import path from 'node:path';
import { openLink } from '../../check/kind.ts';
import { TeleopError } from '../../core/errors.ts';
import { writeWhole } from '../../files/write-whole.ts';
import { loadRig } from '../../rig/rig.ts';
import { compareTransports, type TransportComparison } from '../compare-transports.ts';
import { type CheckOptions, checkSession } from './run-check.ts';
import { runSession } from './run-session.ts';

/** UDP and ZeroMQ in turn over one link, `slices` windows of each within the requested time. */
export async function compareOn(
  options: CheckOptions & { slices: number },
): Promise<{ result: TransportComparison; file: string }> {
  const { kind, rig, overrides, slices, durationS, robotHost, onPhase, onProgress } = options;
  rejectUnsupported(kind, robotHost);
  const secondsPerSlice = Math.max(1, durationS / (2 * slices));
  await checkSession(options);
  const { place, about } = openLink(kind, robotHost);
  onPhase(`comparing udp and zmq over ${about}: ${slices} windows of ${secondsPerSlice.toFixed(1)} s each`);
  try {
    const found = await compareTransports({
      rig,
      overrides,
      slices,
      secondsPerSlice,
      onProgress,
      run: async (given, seconds) => {
        const quiet = { onPhase: () => {}, onProgress: () => {}, baseline: false, profile: null, settleS: 0 };
        const session = await runSession({
          ...options,
          ...quiet,
          place,
          overrides: given,
          durationS: seconds,
        });
        if (session.isCutShort)
          throw new TeleopError('not-confirmed', 'the comparison was interrupted', {
            hint: 'Let it finish, or make it shorter: --duration S --slices N.',
          });
        return session;
      },
    });
    const result = { kind, about, ...found };
    return { result, file: writeComparison(loadRig(rig, overrides).config.trace.dir, result) };
  } finally {
    place.close();
  }
}

function rejectUnsupported(kind: string, robotHost: string | null): void {
  if (robotHost !== null)
    throw new TeleopError('bad-option', 'cannot switch the transport of a robot on another machine', {
      hint: 'Run `farhand robot link.transport=udp` and then zmq there, and `farhand check` here with the same setting each time.',
    });
  if (kind === 'local' || kind === 'wired') return;
  throw new TeleopError(
    'bad-option',
    `--compare does not work over ${kind}: ZeroMQ uses TCP, and the emulator carries only UDP`,
    {
      hint: 'Compare over local or wired.',
    },
  );
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
