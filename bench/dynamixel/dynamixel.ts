import { expectWords, type Given, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';
import { type Check, checkText, percentileTable } from '../text-table.ts';
import { type CycleRun, HZ, runCycles } from './cycles.ts';
import { type CodecSpeed, measureCodec } from './speed.ts';
import { type WireTime, wireTimes } from './wire-time.ts';

const MAX_ENCODE_US = 5;

/** Writes the goals of 17 motors and reads their positions, with the simulator in a separate process. */
export const dynamixelBench: Verb = {
  name: 'dynamixel',
  usage: '[--seconds S] [--json]',
  about: `Dynamixel bus of the ORCA hand: codec, and ${HZ} Hz against the simulator.`,
  details: `A pseudo-terminal takes no time per byte, so the time of a cycle on a real line is computed in addition.
The simulator polls its line every millisecond.`,
  options: { seconds: SECONDS_OPTION, json: JSON_OPTION },
  async run(given: Given) {
    expectWords(dynamixelBench, given, 0, 0);
    const env = environment();
    const load = meterLoad();
    const speed = measureCodec();
    const wire = wireTimes();
    const cycles = await runCycles(secondsOf(given, 10));
    const checks = checksOf(speed, wire, cycles);
    const seen = load();
    print(
      given,
      { bench: 'dynamixel', environment: env, load: seen, speed, wire, cycles, checks },
      [environmentText(env), loadText(seen), '', text(speed, wire, cycles, checks)].join('\n'),
    );
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

function checksOf(speed: CodecSpeed, wire: readonly WireTime[], cycles: CycleRun): Check[] {
  const periodMs = 1000 / HZ;
  const slowest = Math.max(...wire.map(({ cycleMs }) => cycleMs));
  const { p99 } = cycles.cycleMs;
  return [
    {
      what: `17 motors encoded in at most ${MAX_ENCODE_US} µs`,
      ok: speed.encodeUs.p99 <= MAX_ENCODE_US,
      found: `p50 ${speed.encodeUs.p50.toFixed(2)} µs, p99 ${speed.encodeUs.p99.toFixed(2)} µs`,
    },
    {
      what: `a cycle ends within its period of ${periodMs.toFixed(1)} ms`,
      ok: p99 <= periodMs,
      found: `p99 ${p99.toFixed(2)} ms; with the time on the slowest wire ${(p99 + slowest).toFixed(2)} ms`,
    },
    {
      what: 'every cycle is answered',
      ok: cycles.missed === 0,
      found: `${cycles.missed} of ${cycles.count} were not; ${cycles.overruns} turns skipped`,
    },
  ];
}

function text(
  speed: CodecSpeed,
  wire: readonly WireTime[],
  cycles: CycleRun,
  checks: readonly Check[],
): string {
  const wireRows = wire.map(
    ({ name, sentBytes, answerBytes, cycleMs }) =>
      `${name.padEnd(28)}${String(sentBytes).padStart(7)}${String(answerBytes).padStart(9)}${cycleMs.toFixed(2).padStart(9)}`,
  );
  return [
    percentileTable('codec, µs', [
      { label: 'encode sync write, 17 motors', percentiles: speed.encodeUs, count: speed.count },
      { label: 'parse fast answer, 17 motors', percentiles: speed.parseUs },
    ]),
    '',
    `${'time on the wire (computed)'.padEnd(28)}${'sent B'.padStart(7)}${'answer B'.padStart(9)}${'ms'.padStart(9)}`,
    ...wireRows,
    '',
    percentileTable(`${HZ} Hz, simulator, ms`, [
      { label: 'period', percentiles: cycles.periodMs, count: cycles.count },
      { label: 'goals out → positions in', percentiles: cycles.cycleMs },
    ]),
    '',
    ...checks.map(checkText),
  ].join('\n');
}
