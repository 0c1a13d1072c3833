import { WebSocket } from 'ws';

const PERIOD_MS = 20;
const SWAY_M = 0.05;
const SWAY_MS = 4000;

/** A page of this machine that holds its clutch closed and sways its hand, as a browser's would over the same socket. */
export class DrivingPage {
  readonly #socket: WebSocket;
  readonly #timer: NodeJS.Timeout;
  readonly #startMs = performance.now();
  /** Sends nothing; its clutch stays closed. */
  isSilent = false;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('error', () => {});
    this.#timer = setInterval(() => this.#send(), PERIOD_MS);
  }

  static async open(url: string): Promise<DrivingPage> {
    // Fetching the page brings the cookie of this machine's own browser.
    const served = await fetch(url);
    const cookie = (served.headers.get('set-cookie') ?? '').split(';')[0]!;
    await served.text();
    const socket = new WebSocket(new URL('/ws', url.replace('http', 'ws')), {
      headers: { origin: new URL(url).origin, cookie },
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return new DrivingPage(socket);
  }

  #send(): void {
    if (this.isSilent || this.#socket.readyState !== WebSocket.OPEN) return;
    const sinceMs = performance.now() - this.#startMs;
    const aside = SWAY_M * Math.sin((2 * Math.PI * sinceMs) / SWAY_MS);
    const pose = { positionM: [aside, 1.2, -0.3], quatXyzw: [0, 0, 0, 1], gripper: 0 };
    // Open at first: a clutch counts once it was seen open.
    this.#socket.send(JSON.stringify({ kind: 'hand', ...pose, clutch: sinceMs > 500 }));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket.terminate();
  }
}
