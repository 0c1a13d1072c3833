import type { IncomingMessage, ServerResponse } from 'node:http';
import { TeleopError } from '../../core/errors.ts';

const MAX_BODY_BYTES = 16 * 1024;

export function replyJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(JSON.stringify(value));
}

export const replyError = (response: ServerResponse, status: number, message: string): void =>
  replyJson(response, status, { error: message });

/** The JSON object of a request's body; null when it is none, or too long, or breaks off. */
export async function readBody(
  request: IncomingMessage,
  maxBytes = MAX_BODY_BYTES,
): Promise<Record<string, unknown> | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) return null;
      chunks.push(chunk);
    }
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** A failed operation is told; our own bug ends the process, as everywhere. */
export function replyFailure(response: ServerResponse, error: unknown): void {
  if (!(error instanceof TeleopError)) throw error;
  if (!response.headersSent) replyError(response, 500, `${error.message}. ${error.hint}`);
  else response.end();
}
