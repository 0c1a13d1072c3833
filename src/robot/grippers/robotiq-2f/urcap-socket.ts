import { TcpLink } from '../../buses/tcp-link.ts';
import { Refused } from '../../buses/wait.ts';
import { UrcapReplies, type UrcapReply } from './urcap-replies.ts';

const SILENCE_MS = 1000;
const REPLY_MS = 500;
/** A number that no byte follows for this long is complete. */
const SETTLE_MS = 2;

interface Waiting {
  /** The variable asked for; empty for a SET. */
  name: string;
  resolve(value: number): void;
  reject(error: Refused): void;
  timer: NodeJS.Timeout;
}

/** The text socket of Robotiq's URCap: `SET POS 128 GTO 1`, `GET POS`. Reconnects. */
export class UrcapSocket {
  readonly #link: TcpLink;
  readonly #replies = new UrcapReplies();
  readonly #waiting: Waiting[] = [];
  readonly #take = (reply: UrcapReply): void => this.#answer(reply);
  #settle: NodeJS.Timeout | undefined;
  #trouble = 'not connected';
  #lost = 0;

  constructor(host: string, port: number) {
    this.#link = new TcpLink(
      { host, port, silenceMs: SILENCE_MS },
      {
        up: () => {
          this.#trouble = '';
          this.#replies.restart();
        },
        bytes: (chunk) => this.#onBytes(chunk),
        down: (why) => this.#onDown(why),
      },
    );
  }

  get trouble(): string {
    return this.#trouble;
  }

  get busErrors(): number {
    return this.#lost + this.#replies.malformed;
  }

  get(name: string): Promise<number> {
    return this.#ask(`GET ${name}\n`, name);
  }

  async set(values: Record<string, number>): Promise<void> {
    await this.#ask(setLine(values), '');
  }

  /** Nobody waits for its reply. */
  setNow(values: Record<string, number>): void {
    this.#ask(setLine(values), '').catch(() => {});
  }

  close(): void {
    clearTimeout(this.#settle);
    this.#link.dispose();
    this.#abandon('closed');
  }

  #ask(line: string, name: string): Promise<number> {
    return new Promise((resolve, reject) => {
      if (!this.#link.send(Buffer.from(line, 'latin1'))) {
        reject(new Refused(this.#trouble));
        return;
      }
      const timer = setTimeout(() => {
        this.#lost++;
        // Replies carry no number: after a missing one, the rest cannot be assigned.
        this.#link.drop(`no reply to ${line.trim()}`);
      }, REPLY_MS);
      this.#waiting.push({ name, resolve, reject, timer });
    });
  }

  #onBytes(chunk: Buffer): void {
    clearTimeout(this.#settle);
    this.#replies.push(chunk, this.#take);
    if (this.#replies.isHolding)
      this.#settle = setTimeout(() => this.#replies.settled(this.#take), SETTLE_MS);
  }

  #answer({ ok, name, value }: UrcapReply): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) {
      this.#lost++;
      return;
    }
    clearTimeout(waiting.timer);
    if (ok && name === waiting.name) waiting.resolve(value);
    else {
      this.#lost++;
      waiting.reject(new Refused(ok ? `a reply about ${name || 'nothing'}` : 'it rejected a request'));
    }
  }

  #onDown(why: string): void {
    this.#trouble = `connection lost: ${why}`;
    this.#abandon(this.#trouble);
  }

  #abandon(why: string): void {
    for (const { reject, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      reject(new Refused(why));
    }
  }
}

const setLine = (values: Record<string, number>): string =>
  `SET ${Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(' ')}\n`;
