import type { IncomingMessage } from 'node:http';

/** What a request asks for; null where its address is none (`//`, say), which anybody may send. */
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
