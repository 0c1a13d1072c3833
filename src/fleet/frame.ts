/** A request or an answer: a line of JSON, and bytes after it where there are any. */

const NEWLINE = 10;
const encoder = new TextEncoder();

export function encodeFrame(head: object, bytes?: Uint8Array): Uint8Array {
  const text = encoder.encode(JSON.stringify(head));
  if (bytes === undefined) return text;
  const frame = new Uint8Array(text.length + 1 + bytes.length);
  frame.set(text);
  frame[text.length] = NEWLINE;
  frame.set(bytes, text.length + 1);
  return frame;
}

export function splitFrame(frame: Uint8Array): { head: Uint8Array; bytes: Uint8Array } {
  const end = frame.indexOf(NEWLINE);
  if (end < 0) return { head: frame, bytes: frame.subarray(frame.length) };
  return { head: frame.subarray(0, end), bytes: frame.subarray(end + 1) };
}
