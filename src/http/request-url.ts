import type { IncomingMessage } from 'node:http';

/** The URL of a request; null if it is invalid (`//`, for example), which any client may send. */
export function requestUrl(request: IncomingMessage): URL | null {
  try {
    return new URL(request.url ?? '/', 'http://localhost');
  } catch {
    return null;
  }
}

/** Null for a broken escape. */
export function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
