import { WebSocket } from 'ws';
import type { Caller } from '../../console/access.ts';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import { TeleopError } from '../../core/errors.ts';
import type { FleetMessage, FleetReply, FleetRequest, FleetState } from '../../messages/fleet-console.ts';
import type { FleetConnection } from '../connection.ts';
import { requestEstop } from '../request-estop.ts';
import { acceptSession, requestSession } from '../signalling.ts';
import type { FleetBoard } from './fleet-board.ts';
import { HandOver } from './hand-over.ts';
import type { PageLeases } from './page-leases.ts';
import { parseFleetRequest } from './requests.ts';

const SEND_MS = 1000;
/** A page that misses more pings is gone, and loses its leases. */
const SILENT_PINGS = 3;
const MAX_BACKLOG_BYTES = 4 * 2 ** 20;

export interface FleetPagesOptions {
  connection: FleetConnection;
  board: FleetBoard;
  leases: PageLeases;
  /** Shown in command lines to copy. */
  server: string;
  credentials: string;
  nowMs(): number;
}

interface Page {
  number: number;
  socket: WebSocket;
  caller: Caller;
  sent: string;
  unanswered: number;
}

type Done = Omit<FleetReply, 'kind' | 'id'>;

/** The open pages of a fleet's console: what they receive and what they may request. */
export class FleetPages {
  readonly #options: FleetPagesOptions;
  readonly #pages = new Map<number, Page>();
  readonly #handOver: HandOver;
  readonly #boundary = new EntryBoundary('message from a page');
  readonly #timer: NodeJS.Timeout;
  #count = 0;

  constructor(options: FleetPagesOptions) {
    this.#options = options;
    this.#handOver = new HandOver({
      ...options,
      sendTo: (page, message) => this.sendTo(page, message),
      isThere: (page) => this.#pages.has(page),
    });
    this.#timer = setInterval(() => this.#tick(), SEND_MS);
  }

  add(socket: WebSocket, caller: Caller): void {
    const page: Page = { number: ++this.#count, socket, caller, sent: '', unanswered: 0 };
    this.#pages.set(page.number, page);
    socket.on('error', () => {});
    socket.on('pong', () => {
      page.unanswered = 0;
    });
    socket.on('message', (data, isBinary) => {
      // A socket that is being closed may still deliver messages.
      if (isBinary || socket.readyState !== WebSocket.OPEN) return;
      this.#boundary.run(
        () => this.#receive(page, String(data)),
        () => socket.close(1011, 'internal error'),
      );
    });
    socket.on('close', () => {
      this.#pages.delete(page.number);
      void this.#options.leases.leave(page.number);
    });
    this.#greet(page);
    send(page, { kind: 'robots', rows: this.#options.board.rows(this.#options.nowMs()), removed: [] });
  }

  sendTo(number: number, message: FleetMessage): void {
    const page = this.#pages.get(number);
    if (page !== undefined) send(page, message);
  }

  /** Sends changes without waiting for the next tick. `always`: also when there are none. */
  sendChanges(always = false): void {
    const changes = this.#options.board.changes(this.#options.nowMs());
    if (!always && changes.rows.length + changes.removed.length === 0) return;
    for (const page of this.#pages.values()) send(page, { kind: 'robots', ...changes });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#handOver.close();
    for (const { socket } of this.#pages.values()) socket.terminate();
  }

  #tick(): void {
    for (const page of this.#pages.values()) {
      this.#greet(page);
      if (++page.unanswered > SILENT_PINGS) page.socket.terminate();
      else if (page.socket.readyState === WebSocket.OPEN) page.socket.ping();
    }
    this.sendChanges(true);
  }

  #greet(page: Page): void {
    const { connection, server, credentials } = this.#options;
    const isOperator = page.caller.role === 'operator';
    const state: FleetState = {
      ...{ kind: 'fleet', page: page.number, user: connection.user },
      mayOperate: isOperator && connection.mayOperate,
      connected: connection.isConnected(),
      ...(isOperator ? { server, credentials } : { server: '', credentials: '' }),
    };
    const text = JSON.stringify(state);
    if (text === page.sent) return;
    page.sent = text;
    send(page, state);
  }

  async #receive(page: Page, text: string): Promise<void> {
    const request = parseFleetRequest(text);
    if (request === null) return send(page, { kind: 'reply', id: -1, ok: false, text: 'malformed' });
    let done: Done;
    try {
      done = await this.#do(page, request);
    } catch (error) {
      done = failure(error);
    }
    send(page, { kind: 'reply', id: request.id, ...done });
    if (request.kind !== 'answer') this.sendChanges();
  }

  async #do(page: Page, request: FleetRequest): Promise<Done> {
    // Every user who may see a robot may stop it.
    if (request.kind === 'estop') return this.#estop(request.robot);
    const { mayOperate, user } = this.#options.connection;
    const viewer = page.caller.role !== 'operator' ? 'viewers' : mayOperate ? null : user;
    if (viewer !== null)
      return { ok: false, text: `${viewer} may only watch and stop robots`, code: 'viewer' };
    return this.#operate(page, request);
  }

  async #operate(page: Page, request: Exclude<FleetRequest, { kind: 'estop' }>): Promise<Done> {
    const { leases, board, nowMs } = this.#options;
    const mayHave = () => this.#pages.has(page.number);
    if (request.kind === 'hand-over') {
      const problem = await this.#handOver.answer(page.number, request.ask, request.yes);
      return { ok: problem === null, text: problem ?? '' };
    }
    const { robot } = request;
    if (request.kind === 'take') await leases.take(page.number, robot, mayHave);
    else if (request.kind === 'take-away') await leases.takeAway(page.number, robot, mayHave);
    else if (request.kind === 'release') {
      if (!(await leases.release(page.number, robot)))
        return { ok: false, text: `this page does not hold ${robot}` };
    } else if (request.kind === 'ask') {
      const holder = board.rows(nowMs()).find((row) => row.robot === robot)?.lease?.user;
      if (holder === undefined) return { ok: false, text: `${robot} is free: take it` };
      this.#handOver.ask(page.number, robot, holder);
    } else if (request.kind === 'open') return this.#open(page, request, mayHave);
    else return this.#answer(page, request);
    return { ok: true, text: '' };
  }

  async #estop(robot: string): Promise<Done> {
    const { connection } = this.#options;
    const startMs = performance.now();
    const state = await requestEstop(connection, robot).catch(() => null);
    if (state === null)
      return {
        ok: false,
        text: `not confirmed: ${robot} does not answer. Press the stop on the robot itself.`,
      };
    if (state !== 'stopped') return { ok: false, text: `not confirmed: ${robot} is ${state}`, state };
    return { ok: true, text: `stopped in ${(performance.now() - startMs).toFixed(0)} ms`, state };
  }

  async #open(
    page: Page,
    { robot, retry }: Extract<FleetRequest, { kind: 'open' }>,
    mayHave: () => boolean,
  ): Promise<Done> {
    const { leases, connection } = this.#options;
    const { held } = await (retry
      ? leases.takeUnlessLost(page.number, robot, mayHave)
      : leases.take(page.number, robot, mayHave));
    const { session, sdp, ice } = await requestSession(connection, held, 'page');
    return { ok: true, text: '', offer: { session, sdp, ice } };
  }

  async #answer(page: Page, request: Extract<FleetRequest, { kind: 'answer' }>): Promise<Done> {
    const { robot, session, sdp } = request;
    const { leases, connection } = this.#options;
    const held = leases.heldBy(page.number, robot);
    if (held === null) return { ok: false, text: `this page does not hold ${robot}` };
    await acceptSession(connection, held, session, sdp);
    return { ok: true, text: '' };
  }
}

/** Reports a failed operation, including an unreachable broker; our own bugs go to the boundary. */
function failure(error: unknown): Done {
  if (error instanceof TypeError || error instanceof RangeError) throw error;
  const text = error instanceof Error ? error.message : String(error);
  return { ok: false, text, ...(error instanceof TeleopError ? { code: error.code } : {}) };
}

/**
 * A page that cannot keep up loses its socket, not a part of the list: it gets the whole list when it
 * reconnects.
 */
function send({ socket }: Page, message: FleetMessage): void {
  if (socket.readyState !== WebSocket.OPEN) return;
  if (socket.bufferedAmount > MAX_BACKLOG_BYTES) socket.terminate();
  else socket.send(JSON.stringify(message));
}
