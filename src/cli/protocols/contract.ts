import type { Given } from '../arguments.ts';

/** A foreign protocol as text: what `farhand decode`, `encode` and `send` know of it. */
export interface Protocol {
  readonly about: string;
  /** `{ ok: true, … }`, or `{ ok: false, reason }`. Never throws. */
  decode(bytes: Uint8Array): { ok: boolean } & Record<string, unknown>;
  /** The bytes of what `decode` prints, or why there are none. */
  encode(value: unknown): Uint8Array | { ok: false; reason: string };
  /** For `farhand send`. */
  readonly sender?: {
    readonly port: number;
    readonly hz: number;
    /** Someone drawing a figure eight, as they are after so many seconds. */
    figure8(atS: number): Record<string, unknown>;
  };
  /** In place of `sender`, where it takes more than datagrams. */
  send?(given: Given): Promise<number>;
}
