import { SEGMENTS, type Segment } from '../messages/trace-record.ts';
import { CAUSE_WORDS, type Cause } from '../trace/feel-cause.ts';
import { causesOf } from '../trace/verdict.ts';
import { bestLeg } from './baseline.ts';
import type { Measured } from './measured.ts';

const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`;

const TAIL_SHARE = 0.5;
const SMALL_MS = 0.5;

/** Whether the time is spent on the wire or in software, judged by the probes of the same path. */
export function wireVerdict(measured: Measured): string {
  const wire = measured.summary.segmentsMs.wire;
  const leg = bestLeg(measured.baseline);
  if (!wire) return 'The wire was not measured: the clocks were not synchronized, or no command was applied.';
  if (!leg) return 'The path was not probed, so wire and software cannot be distinguished.';
  const probed = leg.oneWayMs!.p99;
  const both = `${leg.method} during the run: p99 ${ms(probed)} one way, commands ${ms(wire.p99)}`;
  const shared = measured.spikes;
  const seen =
    shared && shared.commands > 0
      ? `; probes were slow in ${shared.shared} of ${shared.commands} spikes too`
      : '';
  if (wire.p99 <= SMALL_MS) return `${both}: the wire is not a problem.`;
  // Half a round trip shows half of a delay that occurred in one direction only.
  if (wire.p99 <= probed + SMALL_MS || probed >= TAIL_SHARE * wire.p99)
    return `${both}${seen}: the time is spent on the wire.`;
  return `${both}${seen}: probes are faster than commands, so the time is spent in this software or machine.`;
}

const SEGMENT_ADVICE: Record<Segment, string> = {
  pipeline:
    'The operator computes too slowly: check other load and the CPU governor (`farhand doctor`), or lower operator.hz.',
  serialise: 'Sending is too slow: check other load on the operator’s machine (`farhand doctor`).',
  wire: 'Use a cable, or run `farhand doctor` on both machines: check Wi-Fi power save, DSCP and the channel.',
  receive:
    'The robot process wakes late: run `farhand doctor` there; set robot.realtimePriority=60 where permitted.',
  playout:
    'Playout absorbs the link’s variation: operator.playoutQuality=fast or operator.playoutCapMs reduce delay at the cost of smoothness.',
  apply:
    'The driver’s write is slow, or its thread wakes late: check its bus (serial latency timer, CAN load) and other load with `farhand doctor`.',
};

export function segmentAdvice(name: Segment, measured: Measured): string {
  return name === 'wire' ? `${wireVerdict(measured)} ${SEGMENT_ADVICE.wire}` : SEGMENT_ADVICE[name];
}

/** Advice on the segment with the largest 99th percentile. */
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

/** Causes of bad seconds that lie in a machine that ran us late; a longer playout delay does not fix them. */
const OF_THE_MACHINE: ReadonlySet<Cause> = new Set<Cause>([
  'pipeline',
  'serialise',
  'receive',
  'missed-tick',
  'late-wake',
  'robot-stall',
]);

export function feltAdvice(measured: Measured): string {
  const main = causesOf(measured.felt?.spells ?? [])[0]?.cause;
  if (main !== undefined && OF_THE_MACHINE.has(main))
    return `During most of the bad time, ${CAUSE_WORDS[main]}. ${stallAdvice(measured)}`;
  if (main === 'apply') return `During most of the bad time, ${CAUSE_WORDS.apply}. ${SEGMENT_ADVICE.apply}`;
  const playout = measured.files[0]?.header?.playout ?? '';
  const first = playout.startsWith('adaptive')
    ? 'operator.playoutQuality=smooth is steadier, with more delay.'
    : `robot.playout is ${playout || 'unknown'}; adaptive absorbs the link’s variation.`;
  return `${first} ${wireVerdict(measured)}`;
}

/** The robot halted or refused commands by itself. */
export function haltAdvice(measured: Measured): string {
  const { spells } = measured.report.feel;
  const why = spells.find(({ cause }) => HALT_CAUSES.has(cause))?.cause;
  const first = why === undefined ? '' : `At first ${CAUSE_WORDS[why]}. `;
  if (why === 'robot-stall' || why === 'missed-tick') return `${first}${stallAdvice(measured)}`;
  if (why === 'fault') return `${first}The robot’s output names the fault; see docs/troubleshooting.md.`;
  if (why === 'input') return `${first}Check the headset’s Wi-Fi and the app that sends its poses.`;
  return `${first}${wireVerdict(measured)} robot.commandTimeoutMs is how long the robot waits before it holds.`;
}

const HALT_CAUSES: ReadonlySet<Cause> = new Set<Cause>([
  'outage',
  'robot-stall',
  'input',
  'fault',
  'missed-tick',
]);

export function lossAdvice(measured: Measured): string {
  const leg = bestLeg(measured.baseline);
  const probes = leg ? ` ${leg.lost} of ${leg.sent} probes were lost too.` : '';
  return `link.redundancy=auto repeats as many commands in later packets as the losses call for; 8 repairs more, with more delay.${probes} Check the radio, and the socket buffers with \`farhand doctor\`.`;
}

export function followAdvice(measured: Measured): string {
  const { report, summary, hz } = measured;
  const reasons = Object.entries(report.rejectedBy).sort((a, b) => b[1] - a[1]);
  const [reason, count] = reasons[0] ?? [];
  if (reason !== undefined)
    return `${count} commands were rejected as \`${reason}\`; see docs/troubleshooting.md.`;
  const applyMs = summary.segmentsMs.apply?.p99 ?? 0;
  if (report.dropped > 0 && applyMs > 1000 / hz)
    return `${report.dropped} commands were dropped, and apply takes longer (p99 ${ms(applyMs)}) than the command period. ${SEGMENT_ADVICE.apply}`;
  if (report.dropped > 0)
    return `${report.dropped} commands arrived after a newer one had been applied: a role or the link stalls in bursts. ${wireVerdict(measured)}`;
  return 'See the robot’s output with `farhand demo --headless --duration 5`; without a hand, or in hold, nothing is applied.';
}

export const clockAdvice = (measured: Measured): string =>
  `It is at most half the shortest round trip. ${wireVerdict(measured)}`;

export const stallAdvice = ({ roles }: Measured): string => {
  const worst = roles.toSorted((a, b) => b.stallsOver20Ms - a.stallsOver20Ms)[0];
  const who = worst ? `the ${worst.role} process` : 'a control thread';
  return `Another program delayed ${who}: close programs, set the CPU governor to performance (\`farhand doctor --fix\`), or ${worst?.role ?? 'robot'}.realtimePriority=60.`;
};
