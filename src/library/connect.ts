import http from 'node:http';
import https from 'node:https';
import WebSocket from 'ws';
import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import type { ConsoleHello } from '../messages/console.ts';
import { Session } from './session.ts';

export interface ConnectOptions {
  /** The console's pairing code: for a program on another machine. */
  code?: string;
  /** `session.token` of an earlier connection, instead of a code. */
  token?: string;
  /** Shown to other pages. */
  name?: string;
  /** Certificate of the console's own authority, PEM, for `https:`. */
  ca?: string;
}

/** Where `farhand demo` and `farhand console` listen unless told otherwise. */
const CONSOLE_URL = 'http://127.0.0.1:4747';
const CONNECT_MS = 5000;
const MAX_REPLY_BYTES = 1 << 20;
const hello = z.looseObject({ kind: z.literal('hello'), model: z.looseObject({}) });

/** Connects to a console like a page: as operator or viewer, whatever the token or code allows. */
export async function connect(
  url = process.env['FARHAND_CONSOLE'] ?? CONSOLE_URL,
  options: ConnectOptions = {},
): Promise<Session> {
  const console = new URL(url);
  const token = options.token ?? (await obtainToken(console, options));
  const socketUrl = new URL('/ws', console);
  socketUrl.protocol = console.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(socketUrl, {
    headers: { authorization: `Bearer ${token}` },
    origin: console.origin,
    handshakeTimeout: CONNECT_MS,
    maxPayload: MAX_REPLY_BYTES,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  return greeting(socket, token, console);
}

/** Waits for the first message; whatever goes wrong before it is a failed connection. */
function greeting(socket: WebSocket, token: string, console: URL): Promise<Session> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      socket.terminate();
      reject(unreachable(console, why));
    };
    const timer = setTimeout(() => fail('no answer'), CONNECT_MS);
    socket.once('error', (error) => fail(error.message));
    socket.once('close', () => fail('it closed the connection'));
    socket.once('message', (data) => {
      const first = parseJson(String(data), hello, MAX_REPLY_BYTES);
      if (typeof first === 'string') return fail('this is no console of Farhand');
      clearTimeout(timer);
      socket.removeAllListeners();
      resolve(new Session(socket, token, first as unknown as ConsoleHello));
    });
  });
}

/** From a pairing code, or, on this machine, like its browser gets it: with the page. */
async function obtainToken(console: URL, { code, name, ca }: ConnectOptions): Promise<string> {
  const body = code === undefined ? null : JSON.stringify({ code, ...(name === undefined ? {} : { name }) });
  const reply = await ask(new URL(body === null ? '/' : '/api/access/pair', console), body, ca);
  const token = /=([^;]+)/.exec(reply.headers['set-cookie']?.[0] ?? '')?.[1];
  if (token !== undefined) return token;
  throw new TeleopError('pairing-failed', `the console at ${console.origin} did not accept this program`, {
    hint:
      code === undefined
        ? 'Show a pairing code with `farhand console` or on its page, and pass it: connect(url, { code }).'
        : 'Ask for a new code: each works once, for a few minutes.',
  });
}

function ask(url: URL, body: string | null, ca: string | undefined): Promise<http.IncomingMessage> {
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const asking = request(url, {
      method: body === null ? 'GET' : 'POST',
      timeout: CONNECT_MS,
      headers: body === null ? {} : { 'content-type': 'application/json', origin: url.origin },
      ...(ca === undefined ? {} : { ca }),
    });
    asking.on('response', (reply) => {
      reply.resume();
      resolve(reply);
    });
    asking.on('timeout', () => asking.destroy(new Error('no answer')));
    asking.on('error', (error) => reject(unreachable(url, error.message)));
    asking.end(body ?? undefined);
  });
}

const unreachable = (url: URL, why: string): TeleopError =>
  new TeleopError('robot-unreachable', `no console at ${url.origin}: ${why}`, {
    hint: 'Start one with `farhand demo` or `farhand console`, and pass its address: connect(url).',
  });
