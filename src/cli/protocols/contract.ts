import type { Given } from '../arguments.ts';

/** A foreign protocol as JSON, for `farhand decode`, `encode` and `send`. */
export interface Protocol {
  readonly about: string;
  /** `{ ok: true, … }`, or `{ ok: false, reason }`. Never throws. */
  decode(bytes: Uint8Array): { ok: boolean } & Record<string, unknown>;
  /** Encodes what `decode` prints, or gives the reason why it cannot. */
  encode(value: unknown): Uint8Array | { ok: false; reason: string };
  /** For `farhand send`. */
  readonly sender?: {
    readonly port: number;
    readonly hz: number;
    /** The sample of a hand drawing a figure eight, `atS` seconds after the start. */
    figure8(atS: number): Record<string, unknown>;
  };
  /** Replaces `sender` for a protocol that needs more than datagrams. */
  send?(given: Given): Promise<number>;
}
