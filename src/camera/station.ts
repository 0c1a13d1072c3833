import { TeleopError } from '../core/errors.ts';
import { type Clock, NS_PER_MS } from '../core/time/clock.ts';
import { Periodic } from '../core/time/periodic.ts';
import type { CameraFrame } from '../messages/recording.ts';
import type { CameraReport } from '../messages/role-report.ts';
import type { CameraConfig } from './config.ts';
import type { JpegCoder } from './encoder.ts';
import { Finisher } from './finisher.ts';
import type { CameraSource, Picture, RobotPose, SourceHost } from './source.ts';

/** A camera's change of state, in words. Rare. */
export interface CameraEvent {
  camera: string;
  kind: 'up' | 'trouble';
  message: string;
  hint: string;
  /** Delay until the source is reopened. */
  retryMs: number;
}

export interface StationParts {
  name: string;
  config: CameraConfig;
  openSource: (config: CameraConfig, host: SourceHost) => Promise<CameraSource>;
  clock: Clock;
  robot: RobotPose;
  coder: () => JpegCoder;
  send: (frame: CameraFrame) => void;
  onEvent: (event: CameraEvent) => void;
  firstPauseMs?: number;
  silentMs?: number;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** A source that delivers nothing for this long counts as dead. */
const SILENT_MS = 5000;

/** One camera, from its source to the sender. Reopens a failed source, after increasing pauses. */
export class CameraStation {
  readonly report: CameraReport;
  readonly #parts: StationParts;
  readonly #finisher: Finisher;
  readonly #joints: Float64Array;
  #source: CameraSource | null = null;
  /** Incremented with every attempt, so that callbacks of an earlier source are ignored. */
  #attempt = 0;
  #pauseMs: number;
  #timers: NodeJS.Timeout[] = [];
  #lastNs = 0;
  #up = false;
  #closed = false;
  #encodeNs = 0;

  constructor(parts: StationParts) {
    const { name, config, coder, robot } = parts;
    this.#parts = parts;
    this.#finisher = new Finisher(config, coder);
    this.#joints = new Float64Array(robot.model.joints.length);
    this.#pauseMs = parts.firstPauseMs ?? FIRST_PAUSE_MS;
    this.report = {
      camera: name,
      source: config.source,
      frames: 0,
      bytes: 0,
      unreadable: 0,
      restarts: 0,
      encodeMaxMs: 0,
      encodeMeanMs: 0,
      trouble: '',
    };
  }

  /** Resolves when the source is open or has failed for the first time; never rejects. */
  async start(): Promise<void> {
    if (this.#closed) return;
    const attempt = ++this.#attempt;
    const { clock, config, openSource, silentMs = SILENT_MS } = this.#parts;
    this.#lastNs = clock.nowNs();
    this.#up = false;
    try {
      const source = await openSource(config, this.#host(attempt));
      if (this.#closed || attempt !== this.#attempt) return source.dispose();
      this.#source = source;
      this.#every(silentMs / 2, () => {
        if (clock.nowNs() - this.#lastNs > silentMs * NS_PER_MS) this.#fail(attempt, silent(silentMs));
      });
    } catch (error) {
      this.#fail(attempt, error);
    }
  }

  close(): void {
    this.#closed = true;
    this.#stop();
  }

  #host(attempt: number): SourceHost {
    const { clock, robot, config } = this.#parts;
    return {
      clock,
      robot,
      everyFrame: (tick) => {
        if (attempt === this.#attempt) this.#pace(config.fpsHz, attempt, tick);
      },
      emit: (picture, captureNs) => {
        if (attempt === this.#attempt && !this.#closed) this.#take(attempt, picture, captureNs);
      },
      fail: (error) => this.#fail(attempt, error),
    };
  }

  /** One timer per tick: Node's intervals drift, and a late camera must not catch up with a burst. */
  #pace(fpsHz: number, attempt: number, tick: (nowNs: number) => void): void {
    const { clock } = this.#parts;
    const periodic = new Periodic(fpsHz, clock.nowNs());
    let timer: NodeJS.Timeout;
    const step = () => {
      if (attempt !== this.#attempt || this.#closed) return;
      const nowNs = clock.nowNs();
      if (periodic.due(nowNs)) this.#guard(attempt, () => tick(nowNs));
      const waitMs = (periodic.nextNs - clock.nowNs()) / NS_PER_MS;
      this.#timers = this.#timers.filter((other) => other !== timer);
      timer = setTimeout(step, Math.max(0, waitMs));
      this.#timers.push(timer);
    };
    timer = setTimeout(step, 0);
    this.#timers.push(timer);
  }

  #take(attempt: number, picture: Picture, captureNs: number): void {
    this.#guard(attempt, () => {
      const { clock, robot, config, name, send, firstPauseMs = FIRST_PAUSE_MS } = this.#parts;
      const beginNs = clock.nowNs();
      const gripper = config.gripperBar ? robot.read(this.#joints) : Number.NaN;
      const finished = this.#finish(picture, gripper, captureNs);
      if (finished === null) {
        this.report.unreadable++;
        return;
      }
      const encodedNs = clock.nowNs();
      send({ camera: name, captureNs, encodedNs, encoding: 'jpeg', ...finished });
      const endNs = clock.nowNs();
      const { bytes, depth } = finished;
      this.#count(bytes.length + (depth?.length ?? 0), endNs - beginNs);
      this.#lastNs = endNs;
      this.#pauseMs = firstPauseMs;
      if (this.#up) return;
      this.#up = true;
      this.#emit('up', `${bytes.length} bytes per picture`, '', 0);
    });
  }

  #finish(
    picture: Picture,
    gripper: number,
    captureNs: number,
  ): { bytes: Uint8Array; depth?: Uint8Array } | null {
    if (picture.kind === 'depth') {
      const { jpeg, png } = this.#finisher.finishDepth(picture);
      return { bytes: jpeg, depth: png };
    }
    const bytes = this.#finisher.finish(picture, gripper, captureNs);
    return bytes && { bytes };
  }

  #count(bytes: number, tookNs: number): void {
    const { report } = this;
    report.frames++;
    report.bytes += bytes;
    this.#encodeNs += tookNs;
    report.encodeMaxMs = Math.max(report.encodeMaxMs, tookNs / NS_PER_MS);
    report.encodeMeanMs = this.#encodeNs / NS_PER_MS / report.frames;
  }

  /** An exception in a source or encoder ends that source, not the thread. */
  #guard(attempt: number, action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#fail(attempt, error);
    }
  }

  #fail(attempt: number, error: unknown): void {
    if (attempt !== this.#attempt || this.#closed) return;
    this.#attempt++;
    this.#stop();
    const known = error instanceof TeleopError;
    this.report.trouble = known ? error.message : String(error);
    this.report.restarts++;
    const hint = known ? error.hint : 'This is a bug in the source; the other cameras keep running.';
    this.#emit('trouble', this.report.trouble, hint, this.#pauseMs);
    this.#timers.push(setTimeout(() => void this.start(), this.#pauseMs));
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * this.#pauseMs);
  }

  #stop(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
    this.#source?.dispose();
    this.#source = null;
  }

  #every(ms: number, action: () => void): void {
    this.#timers.push(setInterval(action, ms));
  }

  #emit(kind: CameraEvent['kind'], message: string, hint: string, retryMs: number): void {
    this.#parts.onEvent({ camera: this.#parts.name, kind, message, hint, retryMs });
  }
}

const silent = (silentMs: number): TeleopError =>
  new TeleopError('camera-failed', `no picture for ${silentMs / 1000} s`, {
    hint: 'Check the cable or the stream; the source is reopened automatically.',
  });
