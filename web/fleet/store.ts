import type { FleetRecordings } from '../../src/messages/fleet-console.ts';
import type { FleetLink, FleetRequestBody, KnownRobot } from '../link/fleet-link.ts';
import { getJson } from '../record/api.ts';
import { type Shown, shownOf, TONES, type Tone } from './robot-status.ts';

/** An e-stop sent from the list. */
export interface Stop {
  phase: 'stopping' | 'stopped' | 'failed';
  text: string;
  pressedMs: number;
}

export interface FleetState {
  view: 'robots' | 'recordings';
  query: string;
  tone: Tone | null;
  selected: string | null;
  /** The pending request for each robot, or why it failed. */
  notes: Map<string, string>;
  stops: Map<string, Stop>;
  /** Waits for confirmation. */
  takingOver: { robot: string; from: string } | null;
  recordings: FleetRecordings | null;
  recordingsProblem: string;
}

const NOTE_MS = 6000;
/** The page repeats the e-stop for this long, until the robot confirms it. */
const STOP_MS = 10_000;
const SAME_PRESS_MS = 800;

/** The state of the Fleet page. The robot list itself is in the link. */
export class FleetStore {
  state: FleetState = {
    ...{ view: 'robots', query: '', tone: null, selected: null, takingOver: null },
    ...{ notes: new Map(), stops: new Map(), recordings: null, recordingsProblem: '' },
  };
  readonly fleet: FleetLink;
  readonly #changed: () => void;
  #all: readonly Shown[] = [];
  #rows = new Map<string, KnownRobot>();
  #matching: { of: readonly Shown[]; key: string; found: readonly Shown[] } = { of: [], key: '', found: [] };

  constructor(fleet: FleetLink, changed: () => void) {
    this.fleet = fleet;
    this.#changed = changed;
  }

  set(part: Partial<FleetState>): void {
    this.state = { ...this.state, ...part };
    this.#changed();
    if (part.query !== undefined) void this.#loadRecordingsOf(part.query.trim());
  }

  /** Sorted by name, so that rows do not move. The same list until a robot changes; its ages are outdated. */
  all(nowMs: number): readonly Shown[] {
    const { robots } = this.fleet;
    const isSame =
      robots.size === this.#all.length &&
      this.#all.every((shown) => robots.get(shown.robot) === this.#rows.get(shown.robot));
    if (isSame) return this.#all;
    const isSorted =
      robots.size === this.#rows.size && [...robots.keys()].every((robot) => this.#rows.has(robot));
    const names = isSorted ? this.#all.map(({ robot }) => robot) : [...robots.keys()].sort();
    const known = new Map(this.#all.map((shown) => [shown.robot, shown]));
    this.#all = names.map((robot) => {
      const row = robots.get(robot)!;
      return this.#rows.get(robot) === row ? known.get(robot)! : shownOf(row, nowMs);
    });
    this.#rows = new Map(robots);
    return this.#all;
  }

  /** The same list until a robot or the search changes. */
  matching(all: readonly Shown[]): readonly Shown[] {
    const { tone, query } = this.state;
    const key = `${tone} ${query}`;
    if (this.#matching.of === all && this.#matching.key === key) return this.#matching.found;
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const found = all.filter(
      (shown) => (tone === null || shown.tone === tone) && words.every((word) => shown.text.includes(word)),
    );
    this.#matching = { of: all, key, found };
    return found;
  }

  counts(all: readonly Shown[]): Record<Tone, number> {
    const counts = Object.fromEntries(TONES.map((tone) => [tone, 0])) as Record<Tone, number>;
    for (const { tone } of all) counts[tone]++;
    return counts;
  }

  async request(request: FleetRequestBody & { robot: string }, doing: string): Promise<void> {
    const { robot } = request;
    this.#setNote(robot, doing);
    const reply = await this.fleet.request(request);
    this.#setNote(robot, reply.ok ? '' : reply.text);
    if (!reply.ok) setTimeout(() => this.#setNote(robot, '', reply.text), NOTE_MS);
  }

  async stop(robot: string): Promise<void> {
    const pressedMs = performance.now();
    if (pressedMs - (this.state.stops.get(robot)?.pressedMs ?? Number.NEGATIVE_INFINITY) < SAME_PRESS_MS)
      return;
    this.#setStop(robot, { phase: 'stopping', text: 'stopping…', pressedMs });
    for (;;) {
      const { ok, text } = await this.fleet.request({ kind: 'estop', robot });
      if (this.state.stops.get(robot)?.pressedMs !== pressedMs) return;
      if (ok) return this.#setStop(robot, { phase: 'stopped', text, pressedMs });
      this.#setStop(robot, { phase: 'failed', text, pressedMs });
      if (performance.now() - pressedMs > STOP_MS) return;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }

  async loadRecordings(): Promise<void> {
    try {
      this.set({ recordings: await getJson<FleetRecordings>('api/fleet/recordings'), recordingsProblem: '' });
    } catch (error) {
      this.set({ recordingsProblem: (error as Error).message });
    }
  }

  /** A large fleet loads only part of its recordings; loads those of the robot named in the search. */
  async #loadRecordingsOf(name: string): Promise<void> {
    const { view, recordings } = this.state;
    if (view !== 'recordings' || !recordings || recordings.left === 0 || !this.fleet.robots.has(name)) return;
    const found = await getJson<FleetRecordings>(`api/fleet/recordings?robot=${name}`).catch(() => null);
    const now = this.state.recordings;
    if (found === null || now === null) return;
    const others = now.recordings.filter(({ robot }) => robot !== name);
    this.set({ recordings: { ...now, recordings: [...found.recordings, ...others] } });
  }

  #setStop(robot: string, stop: Stop): void {
    this.set({ stops: new Map(this.state.stops).set(robot, stop) });
  }

  /** `only`: replaces the note only if it still has this text. */
  #setNote(robot: string, text: string, only?: string): void {
    if (only !== undefined && this.state.notes.get(robot) !== only) return;
    this.set({ notes: new Map(this.state.notes).set(robot, text) });
  }
}
