/**
 * Receiver of pictures → operator: the stages of one picture, for the trace. Null where a stage was not
 * reached or is not known. Capture and encoding are on the clock of the cameras' host, the rest on the
 * operator's.
 */
export interface VideoEvent {
  kind: 'video';
  camera: string;
  captureNs: number;
  encodedNs: number | null;
  receivedNs: number;
  decodedNs: number | null;
  displayedNs: number | null;
  /** Uncertainty of the page's clock, which gave the last two. */
  pageUncertaintyNs: number | null;
}

/** Console → page on a camera's socket: requests a report on the next picture. */
export interface VideoAsk {
  kind: 'stamp';
  id: number;
}

/**
 * The page's answer, milliseconds of its own clock: arrival of the request, stages of the picture, sending of
 * the answer.
 */
export interface VideoAnswer {
  kind: 'stamped';
  id: number;
  askedMs: number;
  decodedMs: number;
  /** Null where the page is not visible. */
  displayedMs: number | null;
  sentMs: number;
}
