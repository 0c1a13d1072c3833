import { WebSocket } from 'ws';
import type { HowToRun, VerbProcess } from '../estop/verb-process.ts';
import { pause, type TrialRig } from './trial-rig.ts';
import type { TrialSettings } from './trial-settings.ts';

const PERIOD_MS = 20;
const SWAY_M = 0.05;
const SWAY_MS = 4000;
/** A clutch counts only after it was seen open. */
const OPEN_MS = 500;
const FOLLOW_MS = 1500;
const TRIES = 5;

/** The page is the input; nothing moves before it connects. */
export const BY_PAGE: TrialSettings = { operator: ['operator.input=page'], first: 'armed' };

/** A page on this machine that closes its clutch and moves its hand, over the same socket as a browser. */
export class DrivingPage {
  readonly server: VerbProcess;
  readonly #socket: WebSocket;
  readonly #timer: NodeJS.Timeout;
  readonly #startMs = performance.now();
  #openUntilMs = this.#startMs + OPEN_MS;
  /** Sends nothing; its clutch stays closed. */
  isSilent = false;

  private constructor(server: VerbProcess, socket: WebSocket) {
    this.server = server;
    this.#socket = socket;
    socket.on('error', () => {});
    // If a trial is aborted, the socket closes with the console.
    this.#timer = setInterval(() => this.#send(), PERIOD_MS).unref();
  }

  /** Starts a console and drives the arm from its page; returns once the arm has followed for a moment. */
  static async lead(rig: TrialRig, how?: (folder: string) => HowToRun): Promise<DrivingPage> {
    const server = rig.startConsole(how);
    const url = (await rig.ready(server, /^console: http/)).slice('console: '.length);
    const page = new DrivingPage(server, await open(url));
    try {
      for (let left = TRIES; left > 0; left--) {
        await rig.waitFor('engaged');
        await pause(FOLLOW_MS);
        if (rig.state === 'engaged') return page;
        // A busy machine was silent for too long: try again, as a person would.
        page.#openUntilMs = performance.now() + OPEN_MS;
      }
      throw new Error('the arm does not follow the page');
    } catch (error) {
      page.close();
      throw error;
    }
  }

  #send(): void {
    if (this.isSilent || this.#socket.readyState !== WebSocket.OPEN) return;
    const nowMs = performance.now();
    const aside = SWAY_M * Math.sin((2 * Math.PI * (nowMs - this.#startMs)) / SWAY_MS);
    const pose = { positionM: [aside, 1.2, -0.3], quatXyzw: [0, 0, 0, 1], gripper: 0 };
    this.#socket.send(JSON.stringify({ kind: 'hand', ...pose, clutch: nowMs > this.#openUntilMs }));
  }

  /** Address of the console. */
  get url(): string {
    return this.#socket.url;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket.terminate();
  }
}

async function open(url: string): Promise<WebSocket> {
  // Fetching the page sets the cookie of a local browser.
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
  return socket;
}
