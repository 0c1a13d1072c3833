import { FEETECH_STS } from '../../buses/feetech/feetech-scs.ts';
import { fromSigned, SIGN_BIT, STS, STS_PRESENT, toSigned } from '../../buses/feetech/sts3215.ts';
import { SyncWrite, syncReadPacket } from '../../buses/servo/packets.ts';
import type { Exchange, ServoBus } from '../../buses/servo/servo-bus.ts';
import type { ServoPacket } from '../../buses/servo/servo-protocol.ts';
import { unsignedAt } from '../../buses/servo/values.ts';

/** One cycle on the bus: goals out and what all servos report in, as one write. Allocates nothing. */
export class ArmCycle {
  readonly steps: Int32Array;
  readonly speeds: Int32Array;
  /** 0.1 % of the servo's torque. */
  readonly loads: Int32Array;
  readonly temperaturesC: Uint8Array;
  readonly goals: Int32Array;
  /** When the newest complete reading was requested. */
  feedbackNs = Number.NaN;
  /** Consecutive cycles without a complete reply. */
  missed = 0;
  readonly #bus: ServoBus;
  readonly #ids: readonly number[];
  readonly #write: SyncWrite;
  readonly #request: Uint8Array;
  readonly #exchange: Exchange;
  readonly #incoming: Uint8Array;
  readonly #answered: Uint8Array;
  readonly #onOver: (complete: boolean) => void;
  #busy = false;
  #beganNs = 0;

  constructor(bus: ServoBus, ids: readonly number[], onOver: (complete: boolean) => void) {
    const count = ids.length;
    this.#bus = bus;
    this.#ids = ids;
    this.#onOver = onOver;
    this.steps = new Int32Array(count);
    this.speeds = new Int32Array(count);
    this.loads = new Int32Array(count);
    this.temperaturesC = new Uint8Array(count);
    this.goals = new Int32Array(count);
    this.#incoming = new Uint8Array(count * STS_PRESENT.size);
    this.#answered = new Uint8Array(count);
    this.#write = new SyncWrite(FEETECH_STS, STS.goalPosition.address, STS.goalPosition.size, ids);
    this.#request = syncReadPacket(
      FEETECH_STS,
      FEETECH_STS.syncRead!,
      STS_PRESENT.address,
      STS_PRESENT.size,
      ids,
    );
    this.#exchange = {
      bytes: new Uint8Array(this.#write.bytes.length + this.#request.length),
      byteCount: 0,
      answers: count,
      answerBytes: count * (STS_PRESENT.size + FEETECH_STS.statusBytes),
      onStatus: (packet) => this.#onStatus(packet),
      onDone: (complete) => this.#onDone(complete),
    };
  }

  /** Does nothing while the previous cycle is under way. */
  begin(nowNs: number, hasGoals: boolean): void {
    if (this.#busy) return;
    const { bytes } = this.#exchange;
    let end = 0;
    if (hasGoals) {
      for (let i = 0; i < this.goals.length; i++)
        this.#write.set(i, toSigned(this.goals[i]!, SIGN_BIT.position));
      end = this.#write.encode();
      for (let i = 0; i < end; i++) bytes[i] = this.#write.bytes[i]!;
    }
    for (let i = 0; i < this.#request.length; i++) bytes[end + i] = this.#request[i]!;
    this.#exchange.byteCount = end + this.#request.length;
    this.#answered.fill(0);
    this.#busy = true;
    this.#beganNs = nowNs;
    this.#bus.submit(this.#exchange, true);
  }

  #onStatus({ id, params, paramBytes }: ServoPacket): number {
    const i = this.#ids.indexOf(id);
    if (i < 0 || paramBytes !== STS_PRESENT.size || this.#answered[i] === 1) return 0;
    this.#answered[i] = 1;
    for (let k = 0; k < STS_PRESENT.size; k++) this.#incoming[i * STS_PRESENT.size + k] = params[k]!;
    return 1;
  }

  #onDone(complete: boolean): void {
    this.#busy = false;
    if (complete) this.#take();
    else this.missed++;
    this.#onOver(complete);
  }

  #take(): void {
    for (let i = 0; i < this.#ids.length; i++) {
      const at = i * STS_PRESENT.size;
      const bytes = this.#incoming;
      this.steps[i] = fromSigned(unsignedAt(bytes, at, 2), SIGN_BIT.position);
      this.speeds[i] = fromSigned(unsignedAt(bytes, at + STS_PRESENT.speedAt, 2), SIGN_BIT.speed);
      this.loads[i] = fromSigned(unsignedAt(bytes, at + STS_PRESENT.loadAt, 2), SIGN_BIT.load);
      this.temperaturesC[i] = bytes[at + STS_PRESENT.temperatureAt]!;
    }
    this.feedbackNs = this.#beganNs;
    this.missed = 0;
  }
}
