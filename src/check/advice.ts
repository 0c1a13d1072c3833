import { SEGMENTS, type Segment } from '../messages/trace-record.ts';
import { CAUSE_WORDS, type Cause } from '../trace/feel-cause.ts';
import { causesOf } from '../trace/verdict.ts';
import { bestLeg } from './baseline.ts';
import type { Measured } from './measured.ts';

const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`;

const TAIL_SHARE = 0.5;
const SMALL_MS = 0.5;

/** Wire or software? The probes beside the run tell. */
export function wireVerdict(measured: Measured): string {
  const wire = measured.summary.segmentsMs.wire;
  const leg = bestLeg(measured.baseline);
  if (!wire)
    return 'Nothing is known about the wire: the clocks were not synchronized, or nothing was applied.';
  if (!leg) return 'Nothing probed the path besides, so wire and software cannot be told apart.';
  const probed = leg.oneWayMs!.p99;
  const both = `${leg.method} beside the run: p99 ${ms(probed)} one way, commands ${ms(wire.p99)}`;
  const shared = measured.spikes;
  const seen =
    shared && shared.commands > 0 ? `; it saw ${shared.shared} of ${shared.commands} slow moments too` : '';
  if (wire.p99 <= SMALL_MS) return `${both}: neither wire nor its edges cost anything worth a search.`;
  // Half a round trip shows half of a delay that struck one way only.
  if (wire.p99 <= probed + SMALL_MS || probed >= TAIL_SHARE * wire.p99)
    return `${both}${seen}: the time is on the wire.`;
  return `${both}${seen}: the wire is faster than our commands on it, so the time is in this software or its machine.`;
}

const SEGMENT_ADVICE: Record<Segment, string> = {
  pipeline:
    'The operator computes too long: look at other load and the CPU governor (`farhand doctor`), or lower operator.hz.',
  serialise: 'Sending takes too long: look at other load on the operator’s machine (`farhand doctor`).',
  wire: 'Use a cable, or run `farhand doctor` on both machines: Wi-Fi power save, DSCP and the channel decide here.',
  receive:
    'The robot’s program wakes late: `farhand doctor` there; robot.realtimePriority=60 where permitted.',
  playout:
    'Playout waits for the link’s variation: operator.playoutQuality=fast or operator.playoutCapMs trade smoothness for delay.',
  apply:
    'The driver’s write is slow, or its thread wakes late: look at its bus (serial latency timer, CAN load) and other load with `farhand doctor`.',
};

export function segmentAdvice(name: Segment, measured: Measured): string {
  return name === 'wire' ? `${wireVerdict(measured)} ${SEGMENT_ADVICE.wire}` : SEGMENT_ADVICE[name];
}

/** The segment whose 99th percentile is largest is where to begin. */
export function slowAdvice(measured: Measured, withoutPlayout = false): string {
  const { segmentsMs } = measured.summary;
  let worst: Segment | null = null;
  for (const name of SEGMENTS)
    if (
      !(withoutPlayout && name === 'playout') &&
      segmentsMs[name] &&
      segmentsMs[name].p99 > (worst ? segmentsMs[worst]!.p99 : 0)
    )
      worst = name;
  if (worst === null) return followAdvice(measured);
  return `Most of it is ${worst} (p99 ${ms(segmentsMs[worst]!.p99)}). ${segmentAdvice(worst, measured)}`;
}

/** Bad seconds of these are made by a machine that did not run us in time, and not mended by waiting longer. */
const OF_THE_MACHINE: ReadonlySet<Cause> = new Set<Cause>([
  'pipeline',
  'serialise',
  'receive',
  'missed-tick',
  'late-wake',
]);

export function feltAdvice(measured: Measured): string {
  const main = causesOf(measured.felt?.spells ?? [])[0]?.cause;
  if (main !== undefined && OF_THE_MACHINE.has(main))
    return `In most of the bad time ${CAUSE_WORDS[main]}. ${stallAdvice(measured)}`;
  if (main === 'apply') return `In most of the bad time ${CAUSE_WORDS.apply}. ${SEGMENT_ADVICE.apply}`;
  const playout = measured.files[0]?.header?.playout ?? '';
  const first = playout.startsWith('adaptive')
    ? 'operator.playoutQuality=smooth waits longer and is steadier.'
    : `robot.playout is ${playout || 'not known'}: adaptive hides the link’s variation.`;
  return `${first} ${wireVerdict(measured)}`;
}

export function lossAdvice(measured: Measured): string {
  const leg = bestLeg(measured.baseline);
  const probes = leg ? ` ${leg.lost} of ${leg.sent} probes were lost besides.` : '';
  return `link.redundancy=8 repeats commands in later packets.${probes} Check the radio, and socket buffers with \`farhand doctor\`.`;
}

export function followAdvice(measured: Measured): string {
  const { report, summary, hz } = measured;
  const reasons = Object.entries(report.rejectedBy).sort((a, b) => b[1] - a[1]);
  const [reason, count] = reasons[0] ?? [];
  if (reason !== undefined)
    return `${count} commands were rejected as \`${reason}\`; docs/troubleshooting.md tells what that means.`;
  const applyMs = summary.segmentsMs.apply?.p99 ?? 0;
  if (report.dropped > 0 && applyMs > 1000 / hz)
    return `${report.dropped} commands were dropped, and apply takes longer (p99 ${ms(applyMs)}) than the time between commands. ${SEGMENT_ADVICE.apply}`;
  if (report.dropped > 0)
    return `${report.dropped} commands came after a newer one had been applied: a role or the link stalls in bursts. ${wireVerdict(measured)}`;
  return 'See what the robot says with `farhand demo --headless --duration 5`; without a hand, or in hold, nothing is applied.';
}

export const clockAdvice = (measured: Measured): string =>
  `Half the shortest round trip bounds it. ${wireVerdict(measured)}`;

export const stallAdvice = ({ roles }: Measured): string => {
  const worst = roles.toSorted((a, b) => b.stallsOver20Ms - a.stallsOver20Ms)[0];
  const who = worst ? `the ${worst.role} process` : 'a control thread';
  return `Something else ran while ${who} should have: close programs, set the CPU governor to performance (\`farhand doctor --fix\`), or ${worst?.role ?? 'robot'}.realtimePriority=60.`;
};
