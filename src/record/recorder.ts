import { mkdirSync, statfsSync } from 'node:fs';
import path from 'node:path';
import type { TeleopError } from '../core/errors.ts';
import type { Clock } from '../core/time/clock.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { MotorReport } from '../messages/motor-health.ts';
import type {
  EpisodeInfo,
  EpisodeRow,
  JointLimits,
  ReceivedFrame,
  RecorderState,
  RecorderStatus,
  RecordRequest,
} from '../messages/recording.ts';
import type { RingRow } from '../messages/ring-row.ts';
import type { WorldTelemetry } from '../messages/telemetry.ts';
import type { TraceRecord } from '../messages/trace-record.ts';
import { isTakenIn, newEpisodeId, REFUSED_FOLDER } from './episodes.ts';
import { type Joined, type JoinLimits, joinFrames, type NewestAt, rowFrom } from './join.ts';
import { type QualityLimits, refusals } from './limits.ts';
import { EpisodeVideo, type OpenPictureEncoder } from './media/episode-video.ts';
import { type OpenSound, type SoundSource, SoundTimes } from './media/sound-source.ts';
import { QualityMeter } from './quality.ts';
import { newInfo, noteDepth, noteParts } from './recorded-info.ts';
import { deleted, noRoom, recordingStopped } from './recording-trouble.ts';
import { EPISODE_ENDING, EpisodeWriter } from './writer.ts';

export interface RecorderParts {
  dir: string;
  task: string;
  /** Start automatically whenever the robot engages. */
  startsAtEngagement: boolean;
  robot: string;
  joints: string[];
  hasGripper: boolean;
  jointLimits?: JointLimits;
  /** Adds the robot's description, the poses of its links and of its tool to every episode. */
  model?: RobotModel;
  cameras: string[];
  rateHz: number;
  rig: unknown;
  version: string;
  /** The writing process: an unfinished file of a running process is not recovered. */
  owner: { pid: number; host: string };
  join: JoinLimits;
  limits: QualityLimits;
  /** Recording stops and saves the episode when less than this is free; 0 disables the check. */
  minFreeBytes: number;
  newestAt: NewestAt;
  /** Pictures become H.264; absent: they stay JPEG. */
  openEncoder?: OpenPictureEncoder;
  /** Adds sound; absent: none. */
  openSound?: OpenSound;
  clock: Clock;
  wallNs: () => bigint;
  onSkipped: (rows: number) => void;
  onSaved: (info: EpisodeInfo, file: string) => void;
  /** A picture that the encoder could not take. */
  onDropped?: () => void;
  /** Trouble that does not end the recording, for people to read. */
  onTrouble?: (text: string) => void;
}

/** A row whose pictures are being encoded. */
interface WaitingRow {
  row: EpisodeRow;
  sampledNs: number;
  joined: Joined;
}

interface Episode {
  writer: EpisodeWriter;
  video: EpisodeVideo | null;
  sound: SoundSource | null;
  waiting: WaitingRow[];
  info: EpisodeInfo;
  meter: QualityMeter;
  startNs: number;
  firstNs: number;
  times: SoundTimes;
  lastSeq: number;
  lastSupervisor: string;
  missing: string | null;
  subtask: string;
}

/**
 * Turns rows of the control thread into episodes on disk. Blocking: run it on its own thread. A disk failure
 * ends the recording with a message and nothing else.
 */
export class EpisodeRecorder {
  readonly #parts: RecorderParts;
  #episode: Episode | null = null;
  #state: RecorderState = 'idle';
  #last: EpisodeInfo | null = null;
  #task: string;
  #message = '';
  #wasEngaged = false;
  #checkedNs = Number.NEGATIVE_INFINITY;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#task = parts.task;
  }

  get status(): RecorderStatus {
    const info = this.#episode?.info ?? this.#last;
    return {
      state: this.#state,
      episode: info?.id ?? null,
      task: this.#task,
      rows: info?.rows ?? 0,
      skippedRows: info?.skippedRows ?? 0,
      durationS: info?.durationS ?? 0,
      ...(this.#episode?.subtask ? { subtask: this.#episode.subtask } : {}),
      message: this.#message,
    };
  }

  /** Labels of saved episodes are not handled here: they need no recorder. */
  request(request: Exclude<RecordRequest, { action: 'label' }>): void {
    if (request.action === 'start') {
      if (request.task !== undefined) this.#task = request.task;
      if (this.#episode === null) this.#start(this.#parts.clock.nowNs());
    } else if (request.action === 'stop') this.#stop(request.label ?? null);
    else if (request.action === 'discard') this.#discard();
    else if (request.action === 'mark') this.#mark(request.subtask);
    else this.#task = request.task;
  }

  /** The rows from now on belong to this sub-task. */
  #mark(subtask: string): void {
    const episode = this.#episode;
    if (episode === null || episode.subtask === subtask) return;
    episode.subtask = subtask;
    const atNs = this.#parts.clock.nowNs();
    this.#guard('continue recording', () => episode.writer.event(atNs, 'subtask', subtask));
  }

  /** A controller's button: starts or ends an episode. */
  toggle(): void {
    this.request({ kind: 'record', action: this.#episode === null ? 'start' : 'stop' });
  }

  #start(startNs: number): void {
    const { clock, wallNs, dir, rig, version, owner, model, openEncoder } = this.#parts;
    const startWallNs = wallNs() - BigInt(Math.round(clock.nowNs() - startNs));
    const startedAt = new Date(Number(startWallNs / 1_000_000n));
    this.#message = '';
    this.#guard('start a recording', () => {
      mkdirSync(dir, { recursive: true });
      if (!this.#hasRoom()) throw noRoom(dir);
      const id = newEpisodeId(startedAt, (taken) => isTakenIn(dir, taken));
      const info = newInfo({ ...this.#parts, task: this.#task }, id, startedAt, openEncoder !== undefined);
      const begin = { info, rig, version, startNs, wallNs: startWallNs, owner, ...(model && { model }) };
      const writer = new EpisodeWriter(path.join(dir, `${id}${EPISODE_ENDING}`), begin);
      this.#episode = {
        writer,
        video: null,
        sound: null,
        waiting: [],
        info,
        meter: new QualityMeter(this.#parts.rateHz),
        startNs,
        firstNs: Number.NaN,
        times: new SoundTimes(),
        lastSeq: -1,
        lastSupervisor: '',
        missing: null,
        subtask: '',
      };
      this.#state = 'recording';
      writer.event(startNs, 'start', info.task);
      this.#openMedia(this.#episode);
    });
  }

  #openMedia(episode: Episode): void {
    const { openEncoder, openSound, cameras, newestAt, clock } = this.#parts;
    if (openSound !== undefined)
      episode.sound = openSound(
        (samples, rateHz) => this.#sound(episode, samples, rateHz),
        (error) => this.#soundless(error),
      );
    if (openEncoder === undefined || cameras.length === 0) return;
    episode.video = new EpisodeVideo(cameras, openEncoder, {
      encoded: (frame, annexB) => this.#encoded(episode, frame, annexB),
      dropped: () => this.#parts.onDropped?.(),
      failed: (error) => this.#stopFor(episode, error),
    });
    for (const camera of cameras) {
      const newest = newestAt(camera, clock.nowNs());
      if (newest !== null) episode.video.offer(newest);
    }
  }

  /** Every frame that arrives. */
  frame(frame: ReceivedFrame): void {
    this.#episode?.video?.offer(frame);
  }

  #encoded(episode: Episode, frame: ReceivedFrame, annexB: Uint8Array): void {
    if (episode !== this.#episode) return;
    this.#guard('continue recording', () => {
      episode.writer.video(frame, annexB);
      this.#release(episode);
    });
  }

  #sound(episode: Episode, samples: Uint8Array, rateHz: number): void {
    if (episode !== this.#episode) return;
    const nowNs = this.#parts.clock.nowNs();
    this.#guard('continue recording', () => {
      episode.writer.sound(episode.times.startOf(samples.length / 2 / rateHz, nowNs), samples, rateHz);
      episode.info.hasSound = true;
    });
  }

  #soundless({ message, hint }: TeleopError): void {
    this.#message = `Recording without sound: ${message}. ${hint}`;
    this.#parts.onTrouble?.(this.#message);
  }

  /** The episode is saved up to its last complete row. */
  #stopFor(episode: Episode, { message, hint }: TeleopError): void {
    if (episode !== this.#episode) return;
    const saved = episode.info.rows > 0 ? ' What was recorded so far is saved.' : '';
    this.#stop(null);
    this.#state = 'failed';
    this.#message = `Recording stopped: ${message}. ${hint}${saved}`;
  }

  /** Every published command, in order. */
  row(ring: RingRow): void {
    const isEngaged = ring.engaged && ring.supervisor === 'engaged';
    if (this.#parts.startsAtEngagement && isEngaged && !this.#wasEngaged && this.#episode === null)
      this.#start(ring.sampledNs);
    this.#wasEngaged = isEngaged;
    const episode = this.#episode;
    if (episode === null || ring.sampledNs < episode.startNs) return;
    this.#guard('continue recording', () => this.#write(episode, ring));
  }

  #write(episode: Episode, ring: RingRow): void {
    const { info, writer } = episode;
    // Rows dropped because the ring was full.
    if (episode.lastSeq >= 0 && ring.seq > episode.lastSeq + 1)
      this.#skip(info, ring.seq - episode.lastSeq - 1);
    episode.lastSeq = ring.seq;
    if (ring.supervisor !== episode.lastSupervisor) {
      writer.event(
        ring.sampledNs,
        'supervisor',
        `${episode.lastSupervisor || '(start)'} → ${ring.supervisor}`,
      );
      episode.lastSupervisor = ring.supervisor;
    }
    const { cameras, join } = this.#parts;
    const newestAt: NewestAt = (camera, atNs) => (episode.video ?? this.#parts).newestAt(camera, atNs);
    const joined = joinFrames(ring.sampledNs, cameras, newestAt, join);
    if (joined.missing !== null) {
      episode.missing = joined.missing;
      return this.#skip(info, 1);
    }
    if (Number.isNaN(episode.firstNs)) episode.firstNs = ring.sampledNs;
    const index = info.rows + episode.waiting.length;
    const joinedRow = rowFrom(ring, joined.frames, index, episode.firstNs);
    const row = episode.subtask === '' ? joinedRow : { ...joinedRow, subtask: episode.subtask };
    episode.waiting.push({ row, sampledNs: ring.sampledNs, joined });
    this.#release(episode);
  }

  /** Writes the rows whose pictures are in the file. */
  #release(episode: Episode): void {
    const { waiting, video } = episode;
    while (waiting[0] !== undefined && (video === null || video.hasLeft(waiting[0].joined.pictures)))
      this.#writeRow(episode, waiting.shift()!);
  }

  #writeRow(episode: Episode, { row, sampledNs, joined }: WaitingRow): void {
    const { info, writer, meter } = episode;
    writer.row(row, sampledNs, joined.pictures);
    meter.row(row);
    noteParts(info, row, writer.hasTool);
    noteDepth(info, joined.pictures);
    info.rows++;
    if (joined.isStale) info.staleRows++;
    info.durationS = (sampledNs - episode.firstNs) / NS_PER_S;
  }

  #skip(info: EpisodeInfo, rows: number): void {
    info.skippedRows += rows;
    this.#parts.onSkipped(rows);
  }

  /** Every command whose trace was closed. */
  trace(record: TraceRecord): void {
    const episode = this.#episode;
    if (episode === null || record.sampledNs < episode.startNs) return;
    episode.meter.trace(record);
    this.#guard('continue recording', () => episode.writer.trace(record, record.sampledNs));
  }

  /** Condition of the motors, as the operator received it at `operatorNs`. */
  motors(operatorNs: number, motors: MotorReport): void {
    const episode = this.#episode;
    if (episode === null || operatorNs < episode.startNs) return;
    this.#guard('continue recording', () => episode.writer.motors(operatorNs, motors));
  }

  /** The simulated world, as the operator received it at `operatorNs`. */
  world(operatorNs: number, world: WorldTelemetry): void {
    const episode = this.#episode;
    if (episode === null || operatorNs < episode.startNs) return;
    this.#guard('continue recording', () => episode.writer.world(operatorNs, world));
  }

  /** Call every few milliseconds. */
  tick(): void {
    const episode = this.#episode;
    if (episode === null) return;
    const nowNs = this.#parts.clock.nowNs();
    this.#guard('continue recording', () => episode.writer.flushIfDue(nowNs));
    if (this.#episode !== episode || nowNs - this.#checkedNs < NS_PER_S) return;
    this.#checkedNs = nowNs;
    this.#guard('continue recording', () => {
      if (!episode.writer.isNamed) throw deleted(episode.writer.path);
      if (!this.#hasRoom()) this.#stopForRoom();
    });
  }

  #hasRoom(): boolean {
    const { dir, minFreeBytes } = this.#parts;
    if (minFreeBytes === 0) return true;
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize >= minFreeBytes;
  }

  #stopForRoom(): void {
    const { dir } = this.#parts;
    this.#stop(null);
    if (this.#state === 'failed') return;
    this.#state = 'failed';
    this.#message = `Recording stopped: the disk of ${dir} is nearly full. The episode was saved. Free some space, then start again.`;
  }

  #stop(label: string | null): void {
    const episode = this.#episode;
    if (episode === null) return;
    if (episode.info.rows === 0) return this.#discardEmpty(episode);
    closeMedia(episode);
    this.#guard('save the recording', () => {
      const { writer, info, meter } = episode;
      const { dir, limits, onSaved, clock } = this.#parts;
      writer.event(clock.nowNs(), 'stop', label ?? '');
      const quality = meter.result(info.skippedRows);
      const refusedBy = refusals(quality, info.rows, limits);
      const final = { ...info, task: this.#task, label, complete: true, quality: { ...quality, refusedBy } };
      let file = path.join(dir, `${info.id}${EPISODE_ENDING}`);
      if (refusedBy.length > 0) {
        mkdirSync(path.join(dir, REFUSED_FOLDER), { recursive: true });
        file = path.join(dir, REFUSED_FOLDER, `${info.id}${EPISODE_ENDING}`);
      }
      writer.close(final, file);
      this.#end({ ...final, sizeBytes: writer.sizeBytes });
      if (refusedBy.length > 0) this.#message = `Episode ${info.id} was rejected: ${refusedBy.join('; ')}.`;
      onSaved(this.#last!, file);
    });
  }

  #discardEmpty(episode: Episode): void {
    const why =
      episode.missing === null ? 'no command was sent' : `no frame arrived from camera "${episode.missing}"`;
    this.#discard();
    this.#message = `Nothing was saved: ${why}.`;
  }

  #discard(): void {
    const episode = this.#episode;
    if (episode === null) return;
    closeMedia(episode);
    this.#guard('discard the recording', () => {
      episode.writer.discard();
      this.#end(null);
    });
  }

  #end(last: EpisodeInfo | null): void {
    this.#episode = null;
    this.#last = last;
    this.#state = 'reset';
  }

  /** Saves the current episode. */
  close(): void {
    this.#stop(null);
  }

  #guard(what: string, operation: () => void): void {
    try {
      operation();
    } catch (cause) {
      if (typeof (cause as NodeJS.ErrnoException).code !== 'string') throw cause;
      this.#fail(recordingStopped(what, this.#parts.dir, cause as NodeJS.ErrnoException));
    }
  }

  #fail({ message, hint }: TeleopError): void {
    const path = this.#episode?.writer.path;
    if (this.#episode !== null) closeMedia(this.#episode);
    let isLeft = false;
    try {
      isLeft = this.#episode?.writer.abandon() ?? false;
    } catch {
      // If the disk is gone, even closing the file fails.
    }
    this.#last = this.#episode?.info ?? this.#last;
    this.#episode = null;
    this.#state = 'failed';
    const remedy = isLeft
      ? ` What was written so far is in ${path}: recover it with \`farhand recover\`.`
      : '';
    this.#message = `${message}. ${hint}${remedy}`;
  }
}

/** Nothing arrives from there afterwards; rows that still wait for a picture are not part of the episode. */
function closeMedia({ video, sound }: Episode): void {
  video?.close();
  sound?.close();
}
