import { Counters } from '../core/counters.ts';
import { isLoopback } from '../core/loopback.ts';
import { type Percentiles, percentiles } from '../core/statistics/percentiles.ts';
import { monotonicClock, NS_PER_MS } from '../core/time/clock.ts';
import type { ReceivedFrame } from '../messages/recording.ts';
import { FrameCache } from './cache.ts';
import type { FrameReceiverConfig } from './channel/frame-receiver.ts';
import type { CamerasConfig } from './config.ts';
import { openFrameReceiver, type ProjectedCapture, sameClock } from './receiver.ts';

/** What arrived from one camera since the last `restart`. */
export interface CameraSeen {
  camera: string;
  frames: number;
  rateHz: number;
  kilobytes: Percentiles | null;
  /** From capture to arrival of the last byte; null if the clocks cannot be compared. */
  ageMs: Percentiles | null;
  /** Between arrivals. */
  gapMs: Percentiles | null;
  /** Nothing for `cameras.staleAfterMs`, or nothing at all. */
  stale: boolean;
}

interface Tally {
  sizes: number[];
  agesMs: number[];
  gapsMs: number[];
}

/** A tally is reset at this many frames, to bound its memory. */
const MOST = 100_000;

/** Receives the cameras and counts their frames, to inspect the channel. */
export class CameraWatch {
  readonly cache = new FrameCache();
  readonly counters = new Counters();
  readonly #names: readonly string[];
  readonly #staleNs: number;
  readonly #tallies = new Map<string, Tally>();
  #sinceNs = monotonicClock.nowNs();
  #close: () => void = () => {};

  private constructor(names: readonly string[], staleNs: number) {
    this.#names = names;
    this.#staleNs = staleNs;
  }

  /** `project` defaults to the shared clock when the host is this machine, otherwise to none. */
  static async open(
    receiver: FrameReceiverConfig,
    cameras: Pick<CamerasConfig, 'staleAfterMs'>,
    project: ((captureNs: number) => ProjectedCapture | null) | null = isLoopback(receiver.host)
      ? sameClock
      : null,
  ): Promise<CameraWatch> {
    const watch = new CameraWatch(receiver.cameras, cameras.staleAfterMs * NS_PER_MS);
    const opened = await openFrameReceiver(receiver, (frame) => watch.#take(frame), {
      ...(project === null ? {} : { project }),
      remark: (reason) => watch.counters.add(reason),
    });
    watch.#close = () => opened.close();
    return watch;
  }

  #take(frame: ReceivedFrame): void {
    const before = this.cache.newest(frame.camera);
    this.cache.put(frame);
    let tally = this.#tallies.get(frame.camera);
    if (tally === undefined || tally.sizes.length >= MOST) {
      tally = { sizes: [], agesMs: [], gapsMs: [] };
      this.#tallies.set(frame.camera, tally);
    }
    tally.sizes.push(frame.bytes.length / 1000);
    tally.agesMs.push((frame.arrivedNs - frame.captureOperatorNs) / NS_PER_MS);
    if (before !== null) tally.gapsMs.push((frame.arrivedNs - before.arrivedNs) / NS_PER_MS);
  }

  /** Counts since the last call of `restart`. */
  seen(nowNs = monotonicClock.nowNs()): CameraSeen[] {
    const seconds = Math.max(1e-3, (nowNs - this.#sinceNs) / 1e9);
    return this.#names.map((camera) => {
      const { sizes = [], agesMs = [], gapsMs = [] } = this.#tallies.get(camera) ?? {};
      return {
        camera,
        frames: sizes.length,
        rateHz: sizes.length / seconds,
        kilobytes: percentiles(sizes),
        ageMs: percentiles(agesMs),
        gapMs: percentiles(gapsMs),
        stale: this.cache.view(camera, nowNs, this.#staleNs)?.stale ?? true,
      };
    });
  }

  restart(): void {
    this.#tallies.clear();
    this.#sinceNs = monotonicClock.nowNs();
  }

  close(): void {
    this.#close();
  }
}
