import { printable } from '../core/printable.ts';
import type { Clock } from '../core/time/clock.ts';
import { ChunkPlan } from './chunk-plan.ts';
import { ClutchHand, type ClutchParts } from './clutch-hand.ts';
import type { Observation, Unobserved } from './observation.ts';
import { type Chunk, whyUnusable } from './policy.ts';
import { SlewLimit } from './slew-limit.ts';

/** What became of a policy's requests and of the ticks of its plan. */
export interface PolicyCounts {
  ticks: number;
  asked: number;
  answered: number;
  /** Answers without an action. */
  idle: number;
  /** Answers all of whose rows were past: nothing of them was used. */
  late: number;
  /** Invalid for this robot, and failures to answer. */
  malformed: number;
  failed: number;
  /** Answers to requests from before a hand-over: dropped. */
  outdated: number;
  /** Ticks at which a request was due but two were still open. */
  busy: number;
  /** Ticks after the first answer that no chunk covered: the arm stands still. */
  stalls: number;
  skipped: Record<Unobserved, number>;
}

export interface PlayerParts extends ClutchParts {
  clock: Clock;
  joints: number;
  /** Rows per second of the policy. */
  fps: number;
  /** Rows between two requests. */
  everyRows: number;
  observe: (tick: number) => Observation | Unobserved;
  /** Joints and gripper as they stand, to begin from; null while unknown. */
  held: () => Float64Array | null;
  infer: (observation: Observation, signal: AbortSignal) => Promise<Chunk>;
  /** To the operator's input `joints`. */
  act: (jointsRad: Float64Array, gripper: number, clutch: boolean) => void;
  /** From `act` until the robot applies it: input, link and playout. */
  leadNs: () => number;
  /** An answer later than this is given up. */
  timeoutMs: number;
  /** At the beginning of every tick. */
  onTick?: () => void;
  /** False while a person drives: the policy runs along, and its targets are proposals. Absent: it always drives. */
  drives?: () => boolean;
  /** For comparison only: `arrival` puts row 0 where the answer arrives, and fails with slow policies. */
  rowZero?: 'request' | 'arrival';
  /** Every answer as it arrives, with the instant of its row 0. */
  onChunk?: (chunk: Chunk, startNs: number) => void;
}

interface Open {
  askedNs: number;
  abort: AbortController;
}

/** One is being computed while the next travels or waits. Policies compute one at a time: more would only queue. */
const MAX_OPEN = 2;
/** Characters of a server's message that are kept. */
const MAX_TROUBLE = 200;
/** From the held pose into the first plan. */
const EASE_NS = 0.3e9;
/** Standing still for longer than this ends in a hold: nothing is sent until the policy answers again. */
const STAND_NS = 1e9;

/**
 * Runs a policy: asks it at its rate, puts its chunks on the robot's clock by the instant of their observation, and
 * sends where the plan is when the target will be applied. Call `tick` at a fixed rate, faster than the policy's.
 */
export class PolicyPlayer {
  readonly counts: PolicyCounts = {
    ...{ ticks: 0, asked: 0, answered: 0, idle: 0, late: 0, malformed: 0, failed: 0, outdated: 0 },
    ...{ busy: 0, stalls: 0 },
    skipped: { 'no-robot': 0, 'stale-state': 0, 'missing-camera': 0, 'stale-camera': 0 },
  };
  /** Why the last request failed or its answer could not be used; empty: none did. */
  trouble = '';
  readonly hand: ClutchHand;
  readonly slew: SlewLimit;
  readonly #parts: PlayerParts;
  readonly #plan: ChunkPlan;
  readonly #open = new Set<Open>();
  /** Joints and gripper: where the plan is, and what was sent last. */
  readonly #goal: Float64Array;
  readonly #sent: Float64Array;
  /** Where it began; null before that. */
  #held: Float64Array | null = null;
  #isFollowed = false;
  #easedNs = Number.NaN;
  #askNs = Number.NEGATIVE_INFINITY;
  #sentNs = Number.NaN;
  #coveredNs = Number.NaN;
  #hasAnswer = false;
  #drove = true;

  constructor(parts: PlayerParts) {
    this.#parts = parts;
    this.#plan = new ChunkPlan(parts.fps, parts.joints);
    this.slew = new SlewLimit(parts.fps, parts.joints);
    this.hand = new ClutchHand(parts);
    this.#goal = new Float64Array(parts.joints + 1);
    this.#sent = new Float64Array(parts.joints + 1);
  }

  /** Forgets the plan and all open requests: what follows starts from fresh observations. */
  restart(): void {
    this.stop();
    this.#plan.clear();
    this.#hasAnswer = false;
    this.#held = null;
    this.#isFollowed = false;
    this.#easedNs = Number.NaN;
    this.#askNs = Number.NEGATIVE_INFINITY;
  }

  tick(): void {
    const nowNs = this.#parts.clock.nowNs();
    this.counts.ticks++;
    this.#parts.onTick?.();
    this.#giveUp(nowNs);
    const drives = this.#parts.drives?.() ?? true;
    if (drives !== this.#drove) this.#turn(drives);
    if (!drives) return this.#propose(nowNs);
    if (!this.#isFollowed) this.#engage(nowNs);
    if (!this.#isFollowed) return;
    this.#request(nowNs);
    this.#play(nowNs);
  }

  /** A person took over, or handed back. */
  #turn(drives: boolean): void {
    this.#drove = drives;
    this.restart();
    if (drives) this.hand.resume();
  }

  /** What it would do now, for comparison with the person who drives. */
  #propose(nowNs: number): void {
    const { act, joints, leadNs } = this.#parts;
    this.#request(nowNs);
    if (!this.#plan.at(nowNs + leadNs(), this.#goal)) return;
    act(this.#goal.subarray(0, joints), this.#goal[joints]!, false);
  }

  /** Engages with the pose that the arm has, so that nothing moves; only then the policy is asked. */
  #engage(nowNs: number): void {
    const { joints, act, held, follows } = this.#parts;
    this.#held ??= held();
    if (this.#held === null) return;
    const isClosed = this.hand.isClosed(nowNs);
    act(this.#held.subarray(0, joints), this.#held[joints]!, isClosed);
    if (!isClosed || !follows()) return;
    this.#isFollowed = true;
    this.#sent.set(this.#held);
    this.#goal.set(this.#held);
    this.#sentNs = this.#coveredNs = nowNs;
  }

  #giveUp(nowNs: number): void {
    for (const open of this.#open)
      if (nowNs - open.askedNs > this.#parts.timeoutMs * 1e6) {
        this.#open.delete(open);
        open.abort.abort();
        this.counts.late++;
        this.trouble = `no answer within ${this.#parts.timeoutMs} ms`;
      }
  }

  #request(nowNs: number): void {
    const { fps, everyRows, observe } = this.#parts;
    if (nowNs < this.#askNs) return;
    if (this.#open.size >= MAX_OPEN) {
      this.counts.busy++;
      return;
    }
    const observation = observe(this.counts.ticks);
    if (typeof observation === 'string') {
      this.counts.skipped[observation]++;
      return;
    }
    const periodNs = (everyRows * 1e9) / fps;
    this.#askNs = Math.max(this.#askNs + periodNs, nowNs);
    this.counts.asked++;
    void this.#ask(observation, nowNs);
  }

  async #ask(observation: Observation, askedNs: number): Promise<void> {
    const open: Open = { askedNs, abort: new AbortController() };
    this.#open.add(open);
    let chunk: Chunk | null = null;
    try {
      chunk = await this.#parts.infer(observation, open.abort.signal);
    } catch (error) {
      if (this.#open.has(open)) this.#fail(error as Error);
    }
    if (!this.#open.delete(open)) {
      if (chunk !== null) this.counts.outdated++;
      return;
    }
    if (chunk !== null) this.#take(chunk, observation);
  }

  #fail({ message }: Error): void {
    this.counts.failed++;
    // A server may write anything, also escape sequences.
    this.trouble = printable(message).slice(0, MAX_TROUBLE);
  }

  #take(chunk: Chunk, { instantNs }: Observation): void {
    const { joints, clock, rowZero, fps, onChunk, leadNs } = this.#parts;
    const why = whyUnusable(chunk, joints);
    if (why !== null) {
      this.counts.malformed++;
      this.trouble = why;
      return;
    }
    if (chunk.rows === 0) {
      this.counts.idle++;
      return;
    }
    const nowNs = clock.nowNs();
    const startNs = rowZero === 'arrival' ? nowNs + leadNs() : instantNs;
    const lastNs = startNs + ((chunk.rows - 1) * 1e9) / fps;
    // A policy of single actions: the newest one holds until the next.
    if (chunk.rows > 1 && lastNs < nowNs + leadNs()) {
      this.counts.late++;
      this.trouble = `an answer came ${((nowNs - startNs) / 1e9).toFixed(1)} s after its pictures: all its rows were past`;
      return;
    }
    this.counts.answered++;
    this.#hasAnswer = true;
    this.slew.learn(chunk);
    this.#plan.add(startNs, chunk.rows > 1 ? chunk : held(chunk, fps, nowNs - startNs + leadNs()));
    onChunk?.(chunk, startNs);
  }

  #play(nowNs: number): void {
    const { act, joints, leadNs } = this.#parts;
    if (this.#plan.at(nowNs + leadNs(), this.#goal)) {
      this.#coveredNs = nowNs;
      this.#ease(nowNs);
    } else {
      if (this.#hasAnswer) this.counts.stalls++;
      // Silence makes the operator hold; what follows begins anew.
      if (nowNs - this.#coveredNs > STAND_NS) return this.restart();
    }
    this.slew.step(this.#sent, this.#goal, (nowNs - this.#sentNs) / 1e9);
    this.#sent[joints] = this.#goal[joints]!;
    this.#sentNs = nowNs;
    act(this.#sent.subarray(0, joints), this.#sent[joints]!, this.hand.isClosed(nowNs));
  }

  /** Fades from the held pose into the plan. */
  #ease(nowNs: number): void {
    if (Number.isNaN(this.#easedNs)) this.#easedNs = nowNs;
    const u = Math.min(1, (nowNs - this.#easedNs) / EASE_NS);
    const share = u * u * u * (10 - 15 * u + 6 * u * u);
    for (let i = 0; i < this.#parts.joints; i++)
      this.#goal[i] = this.#held![i]! + share * (this.#goal[i]! - this.#held![i]!);
  }

  /** Ends all open requests. */
  stop(): void {
    for (const open of this.#open) open.abort.abort();
    this.#open.clear();
  }
}

/** A single action, held for half a second from now. */
function held({ width, values }: Chunk, fps: number, passedNs: number): Chunk {
  const rows = 2 + Math.ceil((Math.max(0, passedNs) / 1e9 + 0.5) * fps);
  const all = new Float64Array(rows * width);
  for (let row = 0; row < rows; row++) all.set(values, row * width);
  return { rows, width, values: all };
}
