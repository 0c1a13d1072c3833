import { createSecretKey, randomBytes } from 'node:crypto';
import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { Opener, Sealer } from '../../src/wire/secure/sealed-box.ts';

const PACKETS = 100_000;
const WARM_UP = 20_000;
const PLAIN_BYTES = 240;

/** Cost of authentication and encryption per packet, in microseconds: sealing and opening. */
export function sealCost(): { sealUs: Percentiles; openUs: Percentiles } {
  const key = createSecretKey(randomBytes(32));
  const sealer = new Sealer(key, 1);
  const opener = new Opener(key);
  const plain = randomBytes(PLAIN_BYTES);
  const sealed = new Uint8Array(512);
  const opened = new Uint8Array(512);
  const sealing = new Float64Array(PACKETS);
  const opening = new Float64Array(PACKETS);
  for (let i = -WARM_UP; i < PACKETS; i++) {
    const t0 = performance.now();
    const length = sealer.seal(0, plain, PLAIN_BYTES, sealed);
    const t1 = performance.now();
    if (opener.open(0, sealed, length, opened) !== null) throw new Error('a genuine packet was rejected');
    const t2 = performance.now();
    if (i < 0) continue;
    sealing[i] = (t1 - t0) * 1000;
    opening[i] = (t2 - t1) * 1000;
  }
  return { sealUs: percentiles(sealing)!, openUs: percentiles(opening)! };
}
