import type { Presence } from '../messages.ts';
import type { RosterAnswer } from './roster-messages.ts';

/** After this long without a message a robot is gone. */
export const SILENT_MS = 12_000;
/** How long a robot that is gone is kept, and how long its removal is. */
const FORGET_MS = 15 * 60e3;
const MOST_ROBOTS = 50_000;
/** Rows of an answer: well under a message of 1 MB. */
export const PAGE_ROWS = 1000;

interface Kept {
  presence: Presence;
  receivedMs: number;
  isGone: boolean;
  /** The row without its times, to notice changes. */
  text: string;
  version: number;
}

/**
 * The newest presence of every robot, with a version per change: a console that asks for what changed gets
 * nothing of robots that only repeat themselves. Plain state; the time is passed in.
 */
export class RosterTable {
  /** In the order of their last change. */
  readonly #rows = new Map<string, Kept>();
  readonly #removed = new Map<string, { version: number; atMs: number }>();
  #version = 0;

  get size(): number {
    return this.#rows.size;
  }

  received(presence: Presence, nowMs: number): void {
    const { robot, state } = presence;
    const known = this.#rows.get(robot);
    if (known === undefined && this.#rows.size >= MOST_ROBOTS) return;
    const text = textOf(presence);
    const isGone = state === 'ended';
    if (known !== undefined && known.text === text && known.isGone === isGone) {
      known.receivedMs = nowMs;
      known.presence = presence;
      return;
    }
    this.#put(robot, { presence, receivedMs: nowMs, isGone, text, version: 0 });
  }

  /** Notices silent robots; call it about once a second. */
  tick(nowMs: number): void {
    for (const [robot, kept] of this.#rows) {
      const silentMs = nowMs - kept.receivedMs;
      if (silentMs > FORGET_MS) {
        this.#rows.delete(robot);
        this.#removed.set(robot, { version: ++this.#version, atMs: nowMs });
      } else if (silentMs > SILENT_MS && !kept.isGone) this.#put(robot, { ...kept, isGone: true });
    }
    for (const [robot, { atMs }] of this.#removed) if (nowMs - atMs > FORGET_MS) this.#removed.delete(robot);
  }

  /** Changes after `since` of the robots that `isAsked` covers, oldest first. */
  changes(since: number, isAsked: (robot: string) => boolean, nowMs: number): Omit<RosterAnswer, 'by'> {
    const found = [...this.#rows].filter(([robot, { version }]) => version > since && isAsked(robot));
    const page = found.slice(0, PAGE_ROWS);
    const more = found.length > page.length;
    const removed = [...this.#removed].filter(([robot, { version }]) => version > since && isAsked(robot));
    return {
      rows: page.map(([, { presence, isGone, receivedMs }]) => ({
        presence,
        goneForMs: isGone ? nowMs - receivedMs : null,
      })),
      removed: since === 0 ? [] : removed.map(([robot]) => robot),
      version: more ? page.at(-1)![1].version : this.#version,
      more,
    };
  }

  #put(robot: string, kept: Kept): void {
    this.#rows.delete(robot);
    this.#removed.delete(robot);
    this.#rows.set(robot, { ...kept, version: ++this.#version });
  }
}

/** Rates and round trips would change every row every second. */
function textOf({ atMs: _at, nonce: _nonce, link, ...rest }: Presence): string {
  const round = (value: number | null, step: number) => value && Math.round(value / step) * step;
  const rounded = link && {
    ...{ client: link.client, rttMs: round(link.rttMs, 5) },
    ...{ inHz: round(link.fromOperatorHz, 20), outHz: round(link.toOperatorHz, 20) },
  };
  return JSON.stringify([rest, rounded]);
}
