import type { Socket } from 'node:dgram';
import { percentiles } from '../core/statistics/percentiles.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { Protocol } from './protocols/contract.ts';

export interface SendOptions {
  protocol: Protocol;
  port: number;
  estopAfterS: number;
  /** No hand is tracked from … to …, seconds. */
  lost: readonly [number, number];
}

/** Sends packets and counts them. */
export class Sending {
  readonly startNs = monotonicClock.nowNs();
  readonly #socket: Socket;
  readonly #address: string;
  readonly #options: SendOptions;
  readonly #lateMs: number[] = [];
  #pending: Promise<void> = Promise.resolve();
  #sent = 0;
  #refused = 0;
  #failed = 0;
  #firstNs = Number.NaN;
  #lastNs = Number.NaN;

  constructor(socket: Socket, address: string, options: SendOptions) {
    this.#socket = socket;
    this.#address = address;
    this.#options = options;
    socket.on('error', () => {
      this.#failed++;
    });
  }

  elapsedS(): number {
    return (monotonicClock.nowNs() - this.startNs) / 1e9;
  }

  /** `dueNs`: when it should have left. */
  send(value: Record<string, unknown>, dueNs: number): void {
    const { protocol, lost, estopAfterS, port } = this.#options;
    const atS = this.elapsedS();
    if (atS >= lost[0] && atS < lost[1]) value['tracking'] = false;
    if (atS >= estopAfterS) value['estop'] = true;
    const bytes = protocol.encode(value);
    if (!(bytes instanceof Uint8Array)) {
      this.#refused++;
      return;
    }
    const nowNs = monotonicClock.nowNs();
    this.#pending = new Promise((resolve) => {
      this.#socket.send(bytes, port, this.#address, (error) => {
        if (error) this.#failed++;
        resolve();
      });
    });
    if (this.#sent++ === 0) this.#firstNs = nowNs;
    this.#lastNs = nowNs;
    if (this.#lateMs.length < 1e6) this.#lateMs.push((nowNs - dueNs) / 1e6);
  }

  /** Call before closing the socket: it discards pending packets. */
  async flush(): Promise<void> {
    await this.#pending;
  }

  report() {
    const spanS = (this.#lastNs - this.#firstNs) / 1e9;
    return {
      sent: this.#sent,
      refused: this.#refused,
      failed: this.#failed,
      seconds: this.#sent > 1 ? spanS : 0,
      rateHz: this.#sent > 1 ? (this.#sent - 1) / spanS : 0,
      lateMs: percentiles(Float64Array.from(this.#lateMs)),
    };
  }
}
