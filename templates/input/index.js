// @ts-check
/** @import { HandSample, InputDevice, Reason, SampleStatus } from 'farhand' */
import { defineInput, SourceLock, z } from 'farhand';

const config = z.strictObject({
  staleAfterMs: z.number().min(20).max(1000).default(100).describe('silence after which the device is gone'),
  listenHost: z.ipv4().default('127.0.0.1').describe('address to listen on'),
  port: z.int().min(0).max(65535).default(9000).describe('UDP port'),
});

/** Three float32 (metres, little-endian), one byte gripper 0…255, one byte buttons: bit 0 clutch, bit 1 e-stop. */
const PACKET_BYTES = 14;
const MAX_REACH_M = 5;
const UPRIGHT = [0, 0, 0, 1];

/**
 * Bytes in, samples out: it owns no socket and no clock. Frame: right-handed, Y up, −Z forward.
 *
 * @implements {InputDevice}
 */
class Device {
  /** @type {number} */ #staleNs;
  #positionM = new Float64Array(3);
  #scratchM = new Float64Array(3);
  #source = new SourceLock([]);
  #gripper = 0;
  #buttons = 0;
  #takenNs = Number.NEGATIVE_INFINITY;
  stream = 0;
  estop = false;

  /** @param {z.output<typeof config>} options */
  constructor(options) {
    this.#staleNs = options.staleAfterMs * 1e6;
  }

  /**
   * @param {Uint8Array} bytes @param {number} length @param {number} receivedNs @param {number} from
   * @returns {Reason | null}
   */
  ingest(bytes, length, receivedNs, from) {
    this.estop = false;
    if (length !== PACKET_BYTES) return 'malformed';
    const view = new DataView(bytes.buffer, bytes.byteOffset, length);
    for (let i = 0; i < 3; i++) {
      const metres = view.getFloat32(4 * i, true);
      if (!Number.isFinite(metres)) return 'non-finite';
      if (Math.abs(metres) > MAX_REACH_M) return 'bad-range';
      this.#scratchM[i] = metres;
    }
    // One sender at a time: another one is rejected until this one has been silent.
    const source = this.#source.admit(from, receivedNs);
    if (source === 'rejected') return 'unknown-source';
    if (source === 'new') this.stream++;
    this.#positionM.set(this.#scratchM);
    this.#gripper = view.getUint8(12) / 255;
    this.#buttons = view.getUint8(13);
    this.estop = (this.#buttons & 2) !== 0;
    this.#takenNs = receivedNs;
    return null;
  }

  /** @param {number} nowNs @param {HandSample} out @returns {SampleStatus} */
  sample(nowNs, out) {
    const isFresh = nowNs - this.#takenNs <= this.#staleNs;
    out.takenNs = this.#takenNs;
    out.positionM.set(this.#positionM);
    out.quatXyzw.set(UPRIGHT);
    out.gripper = this.#gripper;
    out.clutch = isFresh && (this.#buttons & 1) !== 0;
    out.estop = isFresh && (this.#buttons & 2) !== 0;
    out.tracking = isFresh;
    if (isFresh) return 'ok';
    return this.#takenNs === Number.NEGATIVE_INFINITY ? 'none' : 'stale';
  }
}

export default defineInput({
  about: 'NAME: a hand position, a gripper and two buttons over UDP',
  automatic: false,
  config,
  sockets: ({ listenHost: host, port }) => [
    { name: 'NAME', host, port, portKey: 'operator.inputs.NAME.port' },
  ],
  open: (options) => new Device(options),
});
