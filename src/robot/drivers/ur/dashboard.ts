import { connect, type Socket } from 'node:net';
import { Refused, within } from '../../buses/wait.ts';

const REPLY_TIMEOUT_MS = 2000;
/** Replies are short sentences; more than this without a line end is not a dashboard. */
const MAX_LINE_CHARS = 1024;

/**
 * Universal Robots' dashboard server: one line per request, one per reply, in order. Opened for one procedure
 * and closed after it. Rejects with messages for the operator.
 */
export class Dashboard {
  readonly #socket: Socket;
  #text = '';
  #waiting: { resolve(line: string): void; reject(error: Error): void } | null = null;
  #ended: Refused | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#feed(chunk.toString('latin1')));
    socket.on('error', (error: NodeJS.ErrnoException) => this.#end(error.code ?? error.message));
    socket.on('close', () => this.#end('closed by the robot'));
  }

  static async open(host: string, port: number): Promise<Dashboard> {
    const dashboard = new Dashboard(connect({ host, port, noDelay: true }));
    try {
      await dashboard.#line('no greeting');
    } catch (error) {
      dashboard.close();
      throw new Refused(`dashboard ${host}:${port}: ${(error as Error).message}`);
    }
    return dashboard;
  }

  async ask(request: string): Promise<string> {
    if (this.#ended !== null) throw this.#ended;
    this.#text = '';
    this.#socket.write(`${request}\n`);
    return this.#line(`no reply to "${request}"`);
  }

  close(): void {
    this.#socket.destroy();
  }

  #line(late: string): Promise<string> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    const line = new Promise<string>((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
    return within(line, REPLY_TIMEOUT_MS, `dashboard: ${late}`);
  }

  #feed(part: string): void {
    this.#text += part;
    const end = this.#text.indexOf('\n');
    if (end < 0) {
      if (this.#text.length > MAX_LINE_CHARS) this.#end('a reply without a line end');
      return;
    }
    const line = this.#text.slice(0, end).trim();
    this.#text = this.#text.slice(end + 1, end + 1 + MAX_LINE_CHARS);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(line);
  }

  #end(why: string): void {
    this.#ended ??= new Refused(`dashboard: ${why}`);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(this.#ended);
    this.#socket.destroy();
  }
}
