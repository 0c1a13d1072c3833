import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { PRESENT } from '../../src/robot/buses/dynamixel/control-table.ts';
import { DYNAMIXEL_2, fastStatusPacket } from '../../src/robot/buses/dynamixel/dynamixel-2.ts';
import { PacketParser } from '../../src/robot/buses/servo/packet-parser.ts';
import { SyncWrite } from '../../src/robot/buses/servo/packets.ts';

export interface CodecSpeed {
  count: number;
  encodeUs: Percentiles;
  parseUs: Percentiles;
}

const MOTORS = 17;
const BATCHES = 5000;
const PER_BATCH = 20;

/** Mean time per call over batches: a single call is close to the clock's resolution. */
function timed(call: (i: number) => void): Percentiles {
  const took = new Float64Array(BATCHES);
  // The first round warms up.
  for (let round = 0; round < 2; round++)
    for (let batch = 0; batch < BATCHES; batch++) {
      const startMs = performance.now();
      for (let i = 0; i < PER_BATCH; i++) call(batch + i);
      took[batch] = ((performance.now() - startMs) * 1000) / PER_BATCH;
    }
  return percentiles(took)!;
}

export function measureCodec(): CodecSpeed {
  const ids = Array.from({ length: MOTORS }, (_, i) => i + 1);
  const write = new SyncWrite(DYNAMIXEL_2, 116, 4, ids);
  let packets = 0;
  const parser = new PacketParser(DYNAMIXEL_2, () => {
    packets++;
  });
  const answer = fastStatusPacket(
    ids.map((id) => ({ id, error: 0, data: new Uint8Array(PRESENT.size).fill(id) })),
  );
  const encodeUs = timed((i) => {
    for (let motor = 0; motor < MOTORS; motor++) write.set(motor, i * 7 + motor * 100);
    write.encode();
  });
  const parseUs = timed(() => parser.push(answer));
  if (packets !== 2 * BATCHES * PER_BATCH) throw new Error('the parser lost replies');
  return { count: BATCHES * PER_BATCH, encodeUs, parseUs };
}
