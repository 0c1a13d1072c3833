import { GripperFault, type GripperLink } from '../../buses/polled-gripper.ts';
import type { GripperReading } from '../../gripper.ts';
import type { RobotiqConfig } from './config.ts';
import { ACTIVATED, faultText, NOT_ACTIVATED, percentCount, toCount, toPosition } from './counts.ts';
import type { UrcapSocket } from './urcap-socket.ts';

const ACTIVATE_MS = 10_000;
/** Faults are read once in this many cycles. */
const FAULT_EVERY = 10;

/** A Robotiq 2F behind the URCap's socket. */
export class UrcapLink implements GripperLink {
  readonly #socket: UrcapSocket;
  readonly #config: RobotiqConfig;
  #written = Number.NaN;
  #cycles = 0;

  constructor(socket: UrcapSocket, config: RobotiqConfig) {
    this.#socket = socket;
    this.#config = config;
  }

  get trouble(): string {
    return this.#socket.trouble;
  }

  get busErrors(): number {
    return this.#socket.busErrors;
  }

  async prepare(signal: AbortSignal): Promise<void> {
    const socket = this.#socket;
    await this.#checkFault();
    if ((await socket.get('STA')) !== ACTIVATED) await this.#activate(signal);
    if (signal.aborted) return;
    const { speedPercent, forcePercent } = this.#config;
    // The target is where the fingers are, so GTO moves nothing.
    const at = await socket.get('POS');
    if (signal.aborted) return;
    await socket.set({
      POS: at,
      SPE: percentCount(speedPercent),
      FOR: percentCount(forcePercent),
      GTO: 1,
    });
    this.#written = at;
  }

  async cycle(target: number, out: GripperReading): Promise<void> {
    const count = toCount(target, this.#config);
    if (!Number.isNaN(count) && count !== this.#written) {
      await this.#socket.set({ POS: count });
      this.#written = count;
    }
    out.position = toPosition(await this.#socket.get('POS'), this.#config);
    if (this.#cycles++ % FAULT_EVERY === 0) await this.#checkFault();
  }

  stop(): void {
    this.#socket.setNow({ GTO: 0 });
  }

  close(): void {
    this.#socket.close();
  }

  async #checkFault(): Promise<void> {
    const fault = faultText(await this.#socket.get('FLT'));
    if (fault !== '') throw new GripperFault(fault);
  }

  async #activate(signal: AbortSignal): Promise<void> {
    if (!this.#config.activate) throw new GripperFault(NOT_ACTIVATED);
    await this.#socket.set({ ACT: 0 });
    await this.#socket.set({ ACT: 1 });
    let state = 0;
    const look = async () => {
      for (let ms = 0; ms < ACTIVATE_MS && state !== ACTIVATED && !signal.aborted; ms += 50) {
        state = await this.#socket.get('STA');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    await look();
    if (!signal.aborted && state !== ACTIVATED) throw new GripperFault('activation did not end');
  }
}
