import { closeSync, openSync, writeSync } from 'node:fs';
import { emptyTraceRecord, OUTCOMES } from '../../src/messages/trace-record.ts';
import { footerLine, headerLine, motionLine, traceLine } from '../../src/trace/stamps.ts';

const TICK_NS = 10e6;
const OFFSET_NS = 77_530_940_000_000;
const CHUNK_BYTES = 4 << 20;
const CLUSTER_EVERY_S = 400;

/**
 * Writes a trace like a run of `commands` at 100 Hz over Wi-Fi: a constant delay with a tail, a cluster of spikes every
 * few minutes, some loss, all stamps. The same bytes every time.
 */
export function writeLongTrace(path: string, commands: number): number {
  const random = seeded(1);
  const record = emptyTraceRecord();
  Object.assign(record, {
    session: 0xabcd,
    reason: -1,
    late: 0,
    uncertaintyNs: 310_000,
    offsetNs: OFFSET_NS,
  });
  const fd = openSync(path, 'w');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES + 4096);
  let used = 0;
  let bytes = 0;
  const put = (line: string) => {
    used += chunk.write(`${line}\n`, used, 'latin1');
    if (used < CHUNK_BYTES) return;
    bytes += writeSync(fd, chunk, 0, used);
    used = 0;
  };
  put(
    headerLine({
      startedAt: new Date(0),
      session: 0xabcd,
      role: 'operator',
      stampSource: 'kernel',
      playout: 'fixed:20',
      rig: {},
    }),
  );
  for (let seq = 1; seq <= commands; seq++) {
    fill(record, seq, random);
    put(traceLine(record));
    if (seq % 100 === 0)
      put(motionLine({ atNs: record.sampledNs, latencyNs: 45e6 + 5e6 * random(), confidence: 0.98 }));
  }
  put(footerLine(commands, 0));
  bytes += writeSync(fd, chunk, 0, used);
  closeSync(fd);
  return bytes;
}

function fill(record: ReturnType<typeof emptyTraceRecord>, seq: number, random: () => number): void {
  const sampledNs = 1e12 + seq * TICK_NS;
  const inCluster = (seq / 100) % CLUSTER_EVERY_S < 2 && random() < 0.3;
  const wireNs =
    2e6 + 0.4e6 * random() + (random() < 0.02 ? 8e6 * random() : 0) + (inCluster ? 50e6 * random() : 0);
  const isLost = random() < 0.001;
  record.seq = seq;
  record.outcome = OUTCOMES.indexOf(isLost ? 'lost' : 'applied');
  record.sampledNs = sampledNs;
  record.deviceNs = sampledNs - 18e6 - 4e6 * random();
  record.sentNs = record.deviceNs + 1.2e6;
  record.arrivedNs = sampledNs - 5e6 * random();
  record.pipelineDoneNs = sampledNs + 60_000 + 20_000 * random();
  record.wireSentNs = record.pipelineDoneNs + 50_000;
  record.kernelNs = isLost ? Number.NaN : record.wireSentNs + wireNs + OFFSET_NS;
  record.receiveNs = record.kernelNs + 120_000 + 60_000 * random();
  record.dueNs = isLost ? Number.NaN : sampledNs + 20e6 + OFFSET_NS;
  record.releasedNs = Math.max(record.dueNs + 80_000, record.receiveNs);
  record.appliedNs = record.releasedNs + 40_000;
  record.movedNs = record.appliedNs - OFFSET_NS + 12e6 + 8e6 * random();
  record.queueDepth = isLost ? Number.NaN : 2;
  record.playoutDelayNs = isLost ? Number.NaN : 20e6;
}

export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
