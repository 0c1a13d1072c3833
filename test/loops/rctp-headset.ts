import { emptyRctp, encodeRctp, RCTP_BYTES, type RctpPacket } from '../../src/input/codecs/rctp-codec.ts';
import { type Peer, peerOf } from '../../src/wire/reactor.ts';
import type { SimulatedRig } from './simulated-rig.ts';

/** The operator's first socket for an input that listens. */
export const INPUT_SOCKET = 4;
const PERIOD_MS = 20;

/** A headset on the simulated network: 50 packets a second while `run` runs. */
export class Headset {
  readonly packet: RctpPacket = { ...emptyRctp(), gripper: 1, tracking: true };
  peer: Peer = peerOf('10.0.0.3', 50_000);
  clockS = 5;
  /** Amplitude to either side. */
  widthM = 0.08;
  readonly #rig: SimulatedRig;
  #phase = 0;

  constructor(rig: SimulatedRig) {
    this.#rig = rig;
    this.packet.positionM.set([0, 1.2, -0.3]);
  }

  begin(clockS: number, host = '10.0.0.3'): void {
    this.clockS = clockS;
    this.peer = peerOf(host, 50_000);
  }

  send(more: Partial<RctpPacket> = {}, socket = INPUT_SOCKET): void {
    const bytes = new Uint8Array(RCTP_BYTES);
    encodeRctp({ ...this.packet, timestampS: this.clockS, ...more }, bytes);
    this.#rig.network.inject(this.peer, this.#rig.operator.peers[socket]!, bytes);
  }

  run(ms: number): void {
    for (let t = 0; t < ms; t += PERIOD_MS) {
      this.#phase += (2 * Math.PI * PERIOD_MS) / 4000;
      this.packet.positionM[0] = this.widthM * Math.sin(this.#phase);
      this.send();
      this.#rig.runFor(PERIOD_MS);
      this.clockS += PERIOD_MS / 1000;
    }
  }
}
