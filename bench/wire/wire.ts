import { loopback, openNamespaces, type Place } from '../../src/check/place.ts';
import type { Given, Verb } from '../../src/cli/arguments.ts';
import { expectWords, JSON_OPTION } from '../../src/cli/arguments.ts';
import type { Percentiles } from '../../src/core/statistics/percentiles.ts';
import type { TraceSummary } from '../../src/trace/report.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { environment, environmentText, type LoadSeen, loadText, meterLoad } from '../environment.ts';
import { checkPair } from '../loop/python.ts';
import { Progress } from '../progress.ts';
import { endToEnd } from './end-to-end.ts';
import { KINDS, type Kind, measureOneWay, type OneWay } from './one-way.ts';
import { rejectCost } from './reject-cost.ts';
import { sealCost } from './seal-cost.ts';

const RATES = [100, 1000] as const;
/** Document 002, wired Ethernet between two machines, milliseconds. */
const WIRED = { p50: 1.45, p99: 1.649, max: 2.399, variationP99: 0.24 };

export const wireBench: Verb = {
  name: 'wire',
  usage: '[--seconds S]',
  about: 'One-way time of a 200-byte message: ours compared with dgram, zeromq, Python UDP and pyzmq.',
  details: `On loopback and, as root, between network namespaces, at 100 Hz and 1 kHz. All kinds take turns.
Then the whole product, hand to actuator, and the cost of sealing a packet and of rejecting a forged one.`,
  options: { seconds: SECONDS_OPTION, json: JSON_OPTION },
  async run(given: Given) {
    expectWords(wireBench, given, 0, 0);
    const seconds = secondsOf(given, 10);
    const namespaces = openNamespaces();
    const places: Place[] = typeof namespaces === 'string' ? [loopback] : [loopback, namespaces];
    const pyzmq = await checkPair('zmq');
    const kinds = KINDS.filter((kind) => pyzmq.ok || !kind.startsWith('python'));
    const runs = places.length * RATES.length * kinds.length;
    const progress = new Progress(runs + places.length, runs * (seconds + 3) + places.length * (seconds + 4));
    const load = meterLoad();
    const results: OneWay[] = [];
    const whole: { place: string; summary: TraceSummary }[] = [];
    try {
      for (const place of places) {
        for (const hz of RATES)
          for (const kind of kinds)
            results.push(
              await progress.during(`${place.name}, ${hz} Hz, ${kind}`, seconds + 3, () =>
                measureOneWay(kind, hz, seconds, place),
              ),
            );
        const summary = await progress.during(`${place.name}, hand to actuator`, seconds + 4, () =>
          endToEnd(place, seconds),
        );
        whole.push({ place: place.name, summary });
      }
    } finally {
      for (const place of places) place.close();
    }
    const seal = sealCost();
    const reject = rejectCost();
    const notes = [
      typeof namespaces === 'string' ? namespaces : '',
      pyzmq.ok ? '' : `${pyzmq.why}: ${pyzmq.remedy}`,
    ].filter(Boolean);
    const env = environment();
    const seen = load();
    const found = { results, whole, seal, reject, notes };
    print(
      given,
      { environment: env, load: seen, ...found, aims: aims(results, whole, seal) },
      text(env, seen, found),
    );
    return 0;
  },
};

type Seal = ReturnType<typeof sealCost>;
interface Found {
  results: OneWay[];
  whole: { place: string; summary: TraceSummary }[];
  seal: Seal;
  reject: Record<string, Percentiles>;
  notes: string[];
}

const us = (p: Percentiles | null): string =>
  (p === null ? ['–', '–', '–', '–'] : [p.p50, p.p95, p.p99, p.max].map((value) => value.toFixed(0)))
    .map((cell) => cell.padStart(8))
    .join('');

function text(
  env: ReturnType<typeof environment>,
  seen: LoadSeen,
  { results, whole, seal, reject, notes }: Found,
): string {
  const out = [
    environmentText(env),
    `Load      ${loadText(seen)}`,
    ...notes.map((note) => `Note      ${note}`),
    '',
  ];
  const head = ['p50', 'p95', 'p99', 'max'].map((name) => name.padStart(8)).join('');
  for (const place of new Set(results.map((row) => row.place)))
    for (const hz of RATES) {
      out.push(`${place}, ${hz} Hz, 200 bytes, µs`.padEnd(36) + head);
      for (const row of results.filter((one) => one.place === place && one.hz === hz))
        out.push(
          `  ${row.kind}${row.lost ? ` (${row.lost} of ${row.sent} lost)` : ''}`.padEnd(36) +
            us(row.oneWayUs),
        );
      const ours = results.find((one) => one.place === place && one.hz === hz && one.kind === 'sealed');
      out.push('  sealed: kernel → program'.padEnd(36) + us(ours?.kernelToProgramUs ?? null));
      out.push('  sealed: tick wake-up lateness'.padEnd(36) + us(ours?.tickLateUs ?? null), '');
    }
  for (const { place, summary } of whole) {
    const { oneWayMs, variationMs } = summary;
    const ms = (p: Percentiles | null) =>
      p === null ? '–' : `p50 ${p.p50}, p95 ${p.p95}, p99 ${p.p99}, max ${p.max} ms`;
    out.push(
      `hand to actuator, ${place}, 100 Hz: ${ms(oneWayMs)}; variation ${ms(variationMs)}; ${summary.lost} lost`,
    );
  }
  out.push('', `seal a packet, µs: ${us(seal.sealUs)}`, `open a packet, µs: ${us(seal.openUs)}`, '');
  out.push('cost of a forged datagram, µs'.padEnd(36) + head);
  for (const [kind, cost] of Object.entries(reject)) out.push(`  ${kind}`.padEnd(36) + us(cost));
  out.push('');
  for (const aim of aims(results, whole, seal))
    out.push(`${aim.met ? 'met   ' : 'missed'}  ${aim.what}: ${aim.found}`);
  return out.join('\n');
}

interface Aim {
  what: string;
  met: boolean;
  found: string;
}

function aims(results: readonly OneWay[], whole: Found['whole'], seal: Seal): Aim[] {
  const out: Aim[] = [];
  const row = (place: string, hz: number, kind: Kind) =>
    results.find((one) => one.place === place && one.hz === hz && one.kind === kind)?.oneWayUs;
  for (const place of new Set(results.map((one) => one.place)))
    for (const hz of RATES) {
      const ours = row(place, hz, 'sealed');
      const python = row(place, hz, 'python zmq');
      if (!ours) continue;
      const where = `${place}, ${hz} Hz`;
      out.push({
        what: `p50 ≤ 60 µs and p99 ≤ 250 µs, ${where}`,
        met: ours.p50 <= 60 && ours.p99 <= 250,
        found: `${ours.p50.toFixed(0)}, ${ours.p99.toFixed(0)}`,
      });
      if (python)
        out.push({
          what: `p99 not above pyzmq's, ${where}`,
          met: ours.p99 <= python.p99,
          found: `ratio ${(ours.p99 / python.p99).toFixed(2)}`,
        });
    }
  const tick = results.find((one) => one.kind === 'sealed' && one.hz === 100)?.tickLateUs;
  if (tick)
    out.push({
      what: '100 Hz tick wakes within 300 µs, p99',
      met: tick.p99 <= 300,
      found: `${tick.p99.toFixed(0)} µs`,
    });
  for (const [name, cost] of Object.entries(seal))
    out.push({
      what: `${name === 'sealUs' ? 'sealing' : 'opening'} within 5 µs, p99`,
      met: cost.p99 <= 5,
      found: `${cost.p99.toFixed(1)} µs`,
    });
  const across = whole.find(({ place }) => place.startsWith('veth'));
  if (across?.summary.oneWayMs && across.summary.variationMs) {
    const { oneWayMs: o, variationMs: v } = across.summary;
    const met = o.p50 < WIRED.p50 && o.p99 < WIRED.p99 && o.max < WIRED.max && v.p99 < WIRED.variationP99;
    out.push({
      what: 'document 002’s wired figures (1.45, 1.649, 2.399; variation p99 0.24 ms) beaten over veth',
      met,
      found: `${o.p50}, ${o.p99}, ${o.max}; ${v.p99} ms`,
    });
  }
  return out;
}
