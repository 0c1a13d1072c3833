/**
 * Whoever receives pictures → operator: the way of one of them, for the trace. Null where a stage was not reached or is
 * not known. Capture and encoding are in the clock of the cameras' host, the rest in the operator's.
 */
export interface VideoEvent {
  kind: 'video';
  camera: string;
  captureNs: number;
  encodedNs: number | null;
  receivedNs: number;
  decodedNs: number | null;
  displayedNs: number | null;
  /** How well the clock of the page is known, which gave the last two. */
  pageUncertaintyNs: number | null;
}

/** Console → page on a camera's socket: the next picture is to be told about. */
export interface VideoAsk {
  kind: 'stamp';
  id: number;
}

/** The page's answer, milliseconds of its own clock: the question's arrival, the picture's stages, the answer's leave. */
export interface VideoAnswer {
  kind: 'stamped';
  id: number;
  askedMs: number;
  decodedMs: number;
  /** Null where the page is not on the screen. */
  displayedMs: number | null;
  sentMs: number;
}
