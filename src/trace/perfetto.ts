import { HOPS, OUTCOMES, type TraceRecord } from '../messages/trace-record.ts';
import { hopsNs, oneWayNs } from './segments.ts';
import { sessionHex } from './stamps.ts';

/** Tracks of the export. */
const OPERATOR = 1;
const ROBOT = 2;
const TICK_THREAD = 1;
const APPLY_THREAD = 1;

type Put = (event: string) => void;

/**
 * Turns commands into Chrome trace events for ui.perfetto.dev: each command is an async span with one span
 * per hop inside it, work on the two threads are slices joined by a flow, plus counters. All on the
 * operator's clock. Commands in flight overlap, so they cannot be slices of one thread.
 */
export class PerfettoWriter {
  readonly #put: Put;
  readonly #hops = new Float64Array(HOPS.length);
  #baseNs = Number.NaN;
  #events = 0;

  /** `put` receives pieces of text that together form the file. */
  constructor(put: (text: string) => void) {
    put('{"displayTimeUnit":"ms","traceEvents":[\n');
    this.#put = (event) => put(`${this.#events++ === 0 ? '' : ',\n'}${event}`);
    for (const [pid, name] of [
      [OPERATOR, 'operator'],
      [ROBOT, 'robot (projected on the operator’s clock)'],
    ] as const)
      this.#put(`{"ph":"M","name":"process_name","pid":${pid},"args":{"name":"${name}"}}`);
    this.#put(
      `{"ph":"M","name":"thread_name","pid":${OPERATOR},"tid":${TICK_THREAD},"args":{"name":"tick"}}`,
    );
    this.#put(`{"ph":"M","name":"thread_name","pid":${ROBOT},"tid":${APPLY_THREAD},"args":{"name":"apply"}}`);
  }

  get events(): number {
    return this.#events;
  }

  /** In any order. */
  add(record: TraceRecord): void {
    if (Number.isNaN(this.#baseNs)) this.#baseNs = record.sampledNs - 1e9;
    hopsNs(record, this.#hops);
    const outcome = OUTCOMES[record.outcome]!;
    const isApplied = outcome === 'applied' || outcome === 'late';
    this.#slice(OPERATOR, 'tick', record.sampledNs, record.wireSentNs);
    if (isApplied && !Number.isNaN(record.offsetNs)) this.#applied(record);
    else this.#instant(outcome, record.wireSentNs);
  }

  /** The text that completes the file. */
  end(): string {
    return '\n]}\n';
  }

  #applied(record: TraceRecord): void {
    const appliedNs = record.appliedNs - record.offsetNs;
    const applyFromNs = appliedNs - this.#hops[HOPS.indexOf('apply')]!;
    this.#slice(ROBOT, 'apply', applyFromNs, appliedNs);
    this.#flow('s', OPERATOR, record, record.sampledNs);
    this.#flow('f', ROBOT, record, applyFromNs);
    this.#spans(record);
    this.#counter('one-way ms', appliedNs, oneWayNs(record) / 1e6);
    if (!Number.isNaN(record.queueDepth)) this.#counter('queue depth', appliedNs, record.queueDepth);
    if (!Number.isNaN(record.playoutDelayNs))
      this.#counter('playout ms', appliedNs, record.playoutDelayNs / 1e6);
  }

  /** The whole command, with its hops end to end inside it. */
  #spans(record: TraceRecord): void {
    const before = ['capture', 'uplink', 'wait'].reduce((sum, hop) => sum + known(this.#hop(hop)), 0);
    let atNs = record.sampledNs - before;
    const args = `{"seq":${record.seq},"outcome":"${OUTCOMES[record.outcome]!}","clock_uncertainty_us":${micro(record.uncertaintyNs)}}`;
    this.#async('b', 'command', record, atNs, args);
    for (const hop of HOPS) {
      const durationNs = this.#hop(hop);
      if (Number.isNaN(durationNs)) continue;
      this.#async('b', hop, record, atNs);
      atNs += durationNs;
      this.#async('e', hop, record, atNs);
    }
    this.#async('e', 'command', record, atNs);
  }

  #hop(name: string): number {
    return this.#hops[HOPS.indexOf(name as 'wire')]!;
  }

  #us(ns: number): string {
    return ((ns - this.#baseNs) / 1000).toFixed(3);
  }

  #slice(pid: number, name: string, fromNs: number, toNs: number): void {
    if (Number.isNaN(fromNs) || Number.isNaN(toNs)) return;
    const dur = (Math.max(0, toNs - fromNs) / 1000).toFixed(3);
    this.#put(
      `{"ph":"X","name":"${name}","cat":"thread","pid":${pid},"tid":1,"ts":${this.#us(fromNs)},"dur":${dur}}`,
    );
  }

  #async(ph: 'b' | 'e', name: string, { session, seq }: TraceRecord, ns: number, args = ''): void {
    const id = `${sessionHex(session)}-${seq}`;
    const more = args === '' ? '' : `,"args":${args}`;
    this.#put(
      `{"ph":"${ph}","cat":"command","name":"${name}","id":"${id}","pid":${OPERATOR},"tid":1,"ts":${this.#us(ns)}${more}}`,
    );
  }

  #flow(ph: 's' | 'f', pid: number, { session, seq }: TraceRecord, ns: number): void {
    const bind = ph === 'f' ? ',"bp":"e"' : '';
    this.#put(
      `{"ph":"${ph}","cat":"flow","name":"command","id":"${sessionHex(session)}-${seq}","pid":${pid},"tid":1,"ts":${this.#us(ns)}${bind}}`,
    );
  }

  #counter(name: string, ns: number, value: number): void {
    if (Number.isNaN(value)) return;
    this.#put(
      `{"ph":"C","name":"${name}","pid":${ROBOT},"ts":${this.#us(ns)},"args":{"value":${Number(value.toFixed(4))}}}`,
    );
  }

  #instant(outcome: string, ns: number): void {
    if (!Number.isNaN(ns))
      this.#put(`{"ph":"i","s":"p","name":"${outcome}","pid":${OPERATOR},"tid":1,"ts":${this.#us(ns)}}`);
  }
}

const known = (ns: number): number => (Number.isNaN(ns) ? 0 : ns);
const micro = (ns: number): string => (Number.isNaN(ns) ? 'null' : (ns / 1000).toFixed(1));
