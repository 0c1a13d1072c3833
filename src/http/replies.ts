import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { EntryBoundary } from '../core/entry-boundary.ts';
import { TeleopError } from '../core/errors.ts';
import { type JsonProblem, parseJson } from '../core/parse-json.ts';

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

/** The parsed body of a request, or why it is invalid. Stops reading a body that is too long. */
export async function readBody<T extends object>(
  request: IncomingMessage,
  schema: z.ZodType<T, unknown>,
  maxBytes = MAX_BODY_BYTES,
): Promise<T | JsonProblem> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) return 'oversize';
      chunks.push(chunk);
    }
  } catch {
    return 'bad-json';
  }
  return parseJson(Buffer.concat(chunks), schema, maxBytes);
}

/** The pending answer to a request; null: not a request for this handler. */
export type Answering = Promise<void> | null;

/** The boundary of a server: whatever a handler throws, now or later, becomes an answer with status 500. */
export function answering(
  name: string,
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): RequestListener {
  const boundary = new EntryBoundary(name);
  return (request, response) => {
    boundary.run(
      async () => {
        try {
          await handle(request, response);
        } catch (error) {
          replyFailure(response, error);
        }
      },
      () => replyFailed(response, 'internal error; see the log of this process'),
    );
  };
}

function replyFailure(response: ServerResponse, error: unknown): void {
  if (!(error instanceof TeleopError)) throw error;
  replyFailed(response, `${error.message}. ${error.hint}`);
}

function replyFailed(response: ServerResponse, text: string): void {
  if (response.headersSent) response.destroy();
  else replyError(response, 500, text);
}
