import type { Given, Verb } from '../../src/cli/arguments.ts';
import { expectWords, JSON_OPTION } from '../../src/cli/arguments.ts';
import { decodeRctp, emptyRctp, encodeRctp, RCTP_BYTES } from '../../src/input/codecs/rctp-codec.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';

const AIM_PER_S = 5e6;
const PACKETS = 1024;
const ROUNDS_PER_READING = 100;
/** More growth than this over a run means an allocation per packet, not the bench's bookkeeping. */
const HEAP_BYTES = 4 << 20;

export const rctpBench: Verb = {
  name: 'rctp',
  usage: '[--seconds S]',
  about: 'RCTP packets decoded per second into one reused object, and the heap growth.',
  options: { seconds: SECONDS_OPTION, json: JSON_OPTION },
  async run(given: Given) {
    expectWords(rctpBench, given, 0, 0);
    const seconds = secondsOf(given, 5);
    const packets = Array.from({ length: PACKETS }, (_, i) => packetOf(i));
    decodeFor(packets, 1000);
    const load = meterLoad();
    const { decoded, tookS, heapBytes } = decodeFor(packets, seconds * 1000);
    const perS = decoded / tookS;
    const met = perS >= AIM_PER_S && heapBytes < HEAP_BYTES;
    const [env, seen] = [environment(), load()];
    const text = `${environmentText(env)}
Load      ${loadText(seen)}

decoded   ${(decoded / 1e6).toFixed(0)} million packets in ${tookS.toFixed(2)} s: ${(perS / 1e6).toFixed(1)} million per second, ${(1e9 / perS).toFixed(0)} ns each
heap      grew by at most ${(heapBytes / 1024).toFixed(0)} KiB

${met ? 'met   ' : 'missed'}  at least ${AIM_PER_S / 1e6} million per second without allocation`;
    print(given, { environment: env, load: seen, decoded, seconds: tookS, perS, heapBytes, met }, text);
    return met ? 0 : 1;
  },
};

/** Different packets, some of them invalid, for a realistic load on the branch predictor. */
function packetOf(i: number): Uint8Array {
  const bytes = new Uint8Array(RCTP_BYTES);
  const packet = { ...emptyRctp(), timestampS: i / 50, gripper: (i % 100) / 100, tracking: i % 50 !== 0 };
  packet.positionM.set([0.1 * Math.sin(i), 1.2, -0.3]);
  packet.quatXyzw.set([0, 0, Math.sin(i), Math.cos(i)]);
  encodeRctp(packet, bytes);
  if (i % 64 === 0) bytes[0] = 0;
  return bytes;
}

function decodeFor(packets: readonly Uint8Array[], ms: number) {
  const out = emptyRctp();
  const startMs = performance.now();
  const startBytes = process.memoryUsage().heapUsed;
  let [decoded, heapBytes, endMs] = [0, 0, startMs];
  while (endMs - startMs < ms) {
    for (let round = 0; round < ROUNDS_PER_READING; round++)
      for (const bytes of packets) if (decodeRctp(bytes, RCTP_BYTES, out) === null) decoded++;
    heapBytes = Math.max(heapBytes, process.memoryUsage().heapUsed - startBytes);
    endMs = performance.now();
  }
  return { decoded, tookS: (endMs - startMs) / 1000, heapBytes };
}
