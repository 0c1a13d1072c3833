/** Messages between page and console about access control, besides requests and telemetry. */

/** Console → page, whenever it changes. */
export interface AccessState {
  kind: 'access';
  role: 'operator' | 'viewer';
  /** This page is in control. */
  inControl: boolean;
  /** Who is in control; null: nobody. */
  holder: string | null;
  /** Number of open pages. */
  pages: number;
}

/** Why the console did not forward a request. */
export type AccessRefusal = 'viewer' | 'not-in-control' | 'malformed';

/** Console → page. */
export interface RefusedEvent {
  kind: 'refused';
  request: string;
  reason: AccessRefusal;
}

/** Console → page and back: the four-stamp exchange, t0 and t3 on the operator's clock, t1 and t2 on the page's. */
export interface ProbeMessage {
  kind: 'probe';
  t0: number;
}

/** Console → page, once a second: how the page's poses arrive. */
export interface PathEvent {
  kind: 'path';
  over: 'webrtc' | 'websocket';
  /** Round trip of the best exchange; null before the first. */
  rttMs: number | null;
  uncertaintyMs: number | null;
}

/** Console → page and back, until a peer connection is established. */
export interface RtcMessage {
  kind: 'rtc';
  signal: unknown;
}

export type AccessMessage = AccessState | RefusedEvent | ProbeMessage | PathEvent | RtcMessage;

/** Page → console. `take` takes control even from another page; `claim` only while nobody has it. */
export type AccessRequest =
  | { kind: 'control'; action: 'claim' | 'take' | 'release' }
  | { kind: 'probed'; t0: number; t1: number; t2: number }
  | { kind: 'rtc'; signal: unknown }
  | { kind: 'rtc-start' };

/** A page's answer to a probe. */
export function answerProbe(probe: ProbeMessage, receivedNs: number, nowNs: number): AccessRequest {
  return { kind: 'probed', t0: probe.t0, t1: receivedNs, t2: nowNs };
}
