import { connect, type Socket } from 'node:net';
import type { UrController } from './controller.ts';

const FRAME_BYTES = 32;

interface Parameters {
  host: string;
  port: number;
  token: number;
  lookaheadS: number;
  gain: number;
  stopRadS2: number;
  extrapolateSteps: number;
  firstFrameS: number;
  maxStepRadS: number;
  maxTimeoutS: number;
}

/** The assignments at the head of our program; null for a text that is not it. */
export function parseControlScript(script: string): Parameters | null {
  if (!/^def farhand\(\):\n/.test(script) || !/\nend\n$/.test(script)) return null;
  const text = (name: string): string => new RegExp(`^ {2}fh_${name} = (.+)$`, 'm').exec(script)?.[1] ?? '';
  const real = (name: string): number => Number(text(name) || Number.NaN);
  const parameters = {
    host: text('host').replaceAll('"', ''),
    port: real('port'),
    token: real('token'),
    lookaheadS: real('lookahead_s'),
    gain: real('gain'),
    stopRadS2: real('stop_rad_s2'),
    extrapolateSteps: real('extrapolate_steps'),
    firstFrameS: real('first_frame_s'),
    maxStepRadS: real('max_step_rad_s'),
    maxTimeoutS: real('max_timeout_s'),
  };
  const numbers = Object.values(parameters).filter((value) => typeof value === 'number');
  return numbers.every(Number.isFinite) && parameters.host !== '' ? parameters : null;
}

/**
 * What a controller does that runs our program, told in its terms: the reader of frames with its timeout, and the
 * servo thread with one servoj per period. It is not an interpreter of URScript.
 */
export class ControlProgram {
  readonly #p: Parameters;
  readonly #log: (text: string) => void;
  #controller!: UrController;
  #ended: () => void = () => {};
  #socket: Socket | null = null;
  #over = false;
  #held = Buffer.alloc(0);
  #waitS: number;
  #waitedS = 0;
  #servo = false;
  #fresh = false;
  #gap = 1;
  #missed = 0;
  #q: number[] = [];
  #from: number[] = [];
  #out: number[] = [];

  constructor(parameters: Parameters, log: (text: string) => void) {
    this.#p = parameters;
    this.#log = log;
    this.#waitS = parameters.firstFrameS;
  }

  start(controller: UrController, ended: () => void): void {
    this.#controller = controller;
    this.#ended = ended;
    this.#q = [...controller.arm.positionsRad];
    this.#from = this.#q;
    this.#out = this.#q;
    const socket = connect({ host: this.#p.host, port: this.#p.port, noDelay: true });
    this.#socket = socket;
    socket.on('connect', () => {
      const token = Buffer.alloc(4);
      token.writeInt32BE(this.#p.token, 0);
      socket.write(token);
    });
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => this.end(error.message));
    socket.on('close', () => this.end('no setpoint in time'));
  }

  /** stopj and out. */
  end(why: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#log(`control program ends: ${why}`);
    this.#socket?.destroy();
    this.#controller.arm.stop(this.#p.stopRadS2);
    this.#ended();
  }

  step(stalled: boolean): void {
    if (!stalled) this.#waitedS += this.#controller.stepS;
    if (this.#waitedS > this.#waitS) return this.end('no setpoint in time');
    this.#setpoint();
    if (!this.#servo) return;
    const { lookaheadS, gain } = this.#p;
    this.#controller.arm.servo({ targetRad: this.#out, lookaheadS, gain });
  }

  #setpoint(): void {
    if (this.#fresh) {
      this.#fresh = false;
      this.#gap = this.#missed + 1;
      this.#missed = 0;
      this.#out = this.#q;
      return;
    }
    this.#missed++;
    if (this.#missed <= this.#p.extrapolateSteps && this.#missed <= this.#gap)
      this.#out = this.#out.map((rad, i) => rad + (this.#q[i]! - this.#from[i]!) / this.#gap);
  }

  #read(chunk: Buffer): void {
    this.#held = Buffer.concat([this.#held, chunk]);
    while (!this.#over && this.#held.length >= FRAME_BYTES) {
      this.#frame(this.#held);
      this.#held = this.#held.subarray(FRAME_BYTES);
    }
  }

  #frame(bytes: Buffer): void {
    const int = (i: number) => bytes.readInt32BE(4 * i);
    this.#waitedS = 0;
    this.#waitS = Math.max(this.#controller.stepS, Math.min(int(0) / 1000, this.#p.maxTimeoutS));
    if (int(7) === 0) {
      this.#servo = false;
      return;
    }
    if (int(7) !== 1) return this.end('told to stop');
    const q = [1, 2, 3, 4, 5, 6].map((i) => int(i) / 1e6);
    if (!this.#servo) {
      this.#q = [...this.#controller.arm.positionsRad];
      this.#out = this.#q;
      this.#missed = 0;
    }
    const room = this.#p.maxStepRadS * this.#controller.stepS * (this.#missed + 2);
    if (q.some((rad, i) => Math.abs(rad - this.#q[i]!) > room)) return this.end('setpoint too far away');
    this.#from = this.#q;
    this.#q = q;
    this.#fresh = true;
    this.#servo = true;
  }
}
