import type { FleetRecordings } from '../../src/messages/fleet-console.ts';
import type { FleetAsk, FleetLink, KnownRobot } from '../link/fleet-link.ts';
import { getJson } from '../record/api.ts';
import { type Shown, shownOf, TONES, type Tone } from './words.ts';

/** Of an e-stop from the list. */
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
  /** What is being done to a robot, or what came of it. */
  said: Map<string, string>;
  stops: Map<string, Stop>;
  /** To be confirmed. */
  takingAway: { robot: string; from: string } | null;
  recordings: FleetRecordings | null;
  recordingsProblem: string;
}

const SAID_MS = 6000;
/** The stop is repeated until the robot's own word, for so long. */
const STOP_MS = 10_000;
const SAME_PRESS_MS = 800;

/** Everything the page of the fleet shows; the list itself is the link's. */
export class FleetStore {
  state: FleetState = {
    ...{ view: 'robots', query: '', tone: null, selected: null, takingAway: null },
    ...{ said: new Map(), stops: new Map(), recordings: null, recordingsProblem: '' },
  };
  readonly fleet: FleetLink;
  readonly #changed: () => void;

  constructor(fleet: FleetLink, changed: () => void) {
    this.fleet = fleet;
    this.#changed = changed;
  }

  set(part: Partial<FleetState>): void {
    this.state = { ...this.state, ...part };
    this.#changed();
    if (part.query !== undefined) void this.#askNamed(part.query.trim());
  }

  /** By name, so that nothing moves while it is looked at. */
  all(nowMs: number): Shown[] {
    return [...this.fleet.robots.values()]
      .sort((a, b) => (a.robot < b.robot ? -1 : 1))
      .map((row: KnownRobot) => shownOf(row, nowMs));
  }

  matching(all: readonly Shown[]): Shown[] {
    const words = this.state.query.toLowerCase().split(/\s+/).filter(Boolean);
    const { tone } = this.state;
    return all.filter(
      (shown) => (tone === null || shown.tone === tone) && words.every((word) => shown.text.includes(word)),
    );
  }

  counts(all: readonly Shown[]): Record<Tone, number> {
    const counts = Object.fromEntries(TONES.map((tone) => [tone, 0])) as Record<Tone, number>;
    for (const { tone } of all) counts[tone]++;
    return counts;
  }

  async ask(request: FleetAsk & { robot: string }, doing: string): Promise<void> {
    const { robot } = request;
    this.#say(robot, doing);
    const reply = await this.fleet.request(request);
    this.#say(robot, reply.ok ? '' : reply.text);
    if (!reply.ok) setTimeout(() => this.#say(robot, '', reply.text), SAID_MS);
  }

  async stop(robot: string): Promise<void> {
    const pressedMs = performance.now();
    if (pressedMs - (this.state.stops.get(robot)?.pressedMs ?? Number.NEGATIVE_INFINITY) < SAME_PRESS_MS)
      return;
    this.#stopIs(robot, { phase: 'stopping', text: 'stopping…', pressedMs });
    for (;;) {
      const { ok, text } = await this.fleet.request({ kind: 'estop', robot });
      if (this.state.stops.get(robot)?.pressedMs !== pressedMs) return;
      if (ok) return this.#stopIs(robot, { phase: 'stopped', text, pressedMs });
      this.#stopIs(robot, { phase: 'failed', text, pressedMs });
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

  /** In a fleet of more robots than are asked at once, one that the search names is asked by itself. */
  async #askNamed(name: string): Promise<void> {
    const { view, recordings } = this.state;
    if (view !== 'recordings' || !recordings || recordings.left === 0 || !this.fleet.robots.has(name)) return;
    const found = await getJson<FleetRecordings>(`api/fleet/recordings?robot=${name}`).catch(() => null);
    const now = this.state.recordings;
    if (found === null || now === null) return;
    const others = now.recordings.filter(({ robot }) => robot !== name);
    this.set({ recordings: { ...now, recordings: [...found.recordings, ...others] } });
  }

  #stopIs(robot: string, stop: Stop): void {
    this.set({ stops: new Map(this.state.stops).set(robot, stop) });
  }

  /** `only`: if that is still what is said. */
  #say(robot: string, text: string, only?: string): void {
    if (only !== undefined && this.state.said.get(robot) !== only) return;
    this.set({ said: new Map(this.state.said).set(robot, text) });
  }
}
