import type { Given, Verb } from '../../src/cli/arguments.ts';
import { expectWords, JSON_OPTION } from '../../src/cli/arguments.ts';
import {
  BRACHIOPLEXUS_MAX_BYTES,
  type BrachioplexusPacket,
  decodeBrachioplexus,
  emptyBrachioplexus,
  encodeBrachioplexus,
  PACKET,
} from '../../src/robot/drivers/bento/brachioplexus-codec.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';

const AIM_PER_S = 2e6;
const PACKETS = 1024;
const ROUNDS_PER_READING = 20;
/** More growth than this over a run means an allocation per packet, not the bench's bookkeeping. */
const HEAP_BYTES = 4 << 20;

export const brachioplexusBench: Verb = {
  name: 'brachioplexus',
  usage: '[--seconds S]',
  about: 'brachIOplexus packets encoded and decoded per second, and the heap growth.',
  details:
    'Ten control and ten feedback packets for one each of scene, update, camera request and camera position.',
  options: { seconds: SECONDS_OPTION, json: JSON_OPTION },
  async run(given: Given) {
    expectWords(brachioplexusBench, given, 0, 0);
    const seconds = secondsOf(given, 5);
    const packets = Array.from({ length: PACKETS }, (_, i) => packetOf(i));
    passFor(packets, 1000);
    const load = meterLoad();
    const { passed, tookS, heapBytes } = passFor(packets, seconds * 1000);
    const perS = passed / tookS;
    const met = perS >= AIM_PER_S && heapBytes < HEAP_BYTES;
    const [env, seen] = [environment(), load()];
    const text = `${environmentText(env)}
Load      ${loadText(seen)}

passed    ${(passed / 1e6).toFixed(0)} million packets encoded and decoded in ${tookS.toFixed(2)} s: ${(perS / 1e6).toFixed(1)} million per second, ${(1e9 / perS).toFixed(0)} ns each
heap      grew by at most ${(heapBytes / 1024).toFixed(0)} KiB

${met ? 'met   ' : 'missed'}  at least ${AIM_PER_S / 1e6} million per second without allocation`;
    print(given, { environment: env, load: seen, passed, seconds: tookS, perS, heapBytes, met }, text);
    return met ? 0 : 1;
  },
};

function packetOf(i: number): BrachioplexusPacket {
  const rare = [PACKET.scene, PACKET.update, PACKET.cameraRequest, PACKET.cameraPosition];
  const type = rare[i % 24] ?? (i % 2 === 0 ? PACKET.control : PACKET.feedback);
  const packet = emptyBrachioplexus(type);
  for (let j = 0; j < 5; j++) {
    packet.speeds[j] = (i * 7 + j) % 1024;
    packet.states[j] = (i + j) % 4;
    packet.positions[j] = ((i * 31 + j * 97) % 8192) - 2048;
  }
  packet.camera.set([-185, 500, i % 300, 66, 270, 0]);
  packet.limits.fill(2048 + (i % 512));
  return packet;
}

function passFor(packets: readonly BrachioplexusPacket[], ms: number) {
  const bytes = new Uint8Array(BRACHIOPLEXUS_MAX_BYTES);
  const out = emptyBrachioplexus();
  const startMs = performance.now();
  const startBytes = process.memoryUsage().heapUsed;
  let [passed, heapBytes, endMs] = [0, 0, startMs];
  while (endMs - startMs < ms) {
    for (let round = 0; round < ROUNDS_PER_READING; round++)
      for (const packet of packets)
        if (decodeBrachioplexus(bytes, encodeBrachioplexus(packet, bytes), out) === null) passed++;
    heapBytes = Math.max(heapBytes, process.memoryUsage().heapUsed - startBytes);
    endMs = performance.now();
  }
  return { passed, tookS: (endMs - startMs) / 1000, heapBytes };
}
