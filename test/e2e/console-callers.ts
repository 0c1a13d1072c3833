import http from 'node:http';
import { WebSocket } from 'ws';

export type Headers = Record<string, string>;

/** Callers that a console must reject, by what is wrong with them. `operator`: a valid cookie. */
export const strangers = (origin: string, operator: string): Record<string, Headers> => ({
  'no token': { origin },
  'a made-up token': { origin, authorization: `Bearer ${'A'.repeat(43)}` },
  'a page elsewhere': { origin: 'http://evil.example', cookie: operator },
  'another port of this machine': { origin: 'http://localhost:1', cookie: operator },
  'a sandboxed page': { origin: 'null', cookie: operator },
  'a foreign name': { host: 'evil.example', origin: 'http://evil.example', cookie: operator },
});

export interface Callers {
  ask(
    method: string,
    where: string,
    headers: Headers,
    body?: string,
  ): Promise<{ status: number; cookie: string; text: string }>;
  /** The open socket, or the status it was rejected with. */
  openSocket(
    where: string,
    headers: Headers,
    onMessage?: (text: string) => void,
  ): Promise<number | WebSocket>;
  /** `SOCKET` is a method too; 0: it opened. */
  statusOf(method: string, where: string, headers: Headers): Promise<number>;
}

/** Sends requests to a console as programs and pages do. */
export function callersOf(url: string): Callers {
  const ask: Callers['ask'] = (method, where, headers, body = '{}') =>
    new Promise((resolve, reject) => {
      http
        .request(new URL(where, url), { method, headers }, async (response) => {
          let text = '';
          for await (const chunk of response) text += String(chunk);
          const cookie = String(response.headers['set-cookie'] ?? '').split(';')[0]!;
          resolve({ status: response.statusCode ?? 0, cookie, text });
        })
        .on('error', reject)
        .end(method === 'POST' ? body : '');
    });
  const openSocket: Callers['openSocket'] = (where, headers, onMessage = () => {}) => {
    const socket = new WebSocket(new URL(where, url.replace('http', 'ws')), { headers });
    socket.on('error', () => {});
    socket.on('message', (data) => onMessage(String(data)));
    return new Promise((resolve) => {
      socket.on('open', () => resolve(socket));
      socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode ?? -1));
    });
  };
  const statusOf: Callers['statusOf'] = async (method, where, headers) => {
    if (method !== 'SOCKET') return (await ask(method, where, headers)).status;
    const socket = await openSocket(where, headers);
    if (typeof socket === 'number') return socket;
    socket.terminate();
    return 0;
  };
  return { ask, openSocket, statusOf };
}
