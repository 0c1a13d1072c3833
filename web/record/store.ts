import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { EpisodeList, EpisodeView, ExportJob } from '../../src/messages/console.ts';
import type { RecorderStatus } from '../../src/messages/recording.ts';
import { getJson, postJson } from './api.ts';

/** The state of the Record page. Replaced, never mutated. */
export interface RecordState {
  /** Undefined: not known yet. Null: this operator does not record. */
  recorder: RecorderStatus | null | undefined;
  robotState: string;
  list: EpisodeList | null;
  listProblem: string;
  selected: string | null;
  view: EpisodeView | null;
  viewProblem: string;
  job: ExportJob | null;
  exportProblem: string;
  model: RobotModel | null;
}

export class RecordStore {
  state: RecordState = {
    recorder: undefined,
    robotState: 'disconnected',
    list: null,
    listProblem: '',
    selected: null,
    view: null,
    viewProblem: '',
    job: null,
    exportProblem: '',
    model: null,
  };
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  set(part: Partial<RecordState>): void {
    this.state = { ...this.state, ...part };
    this.#changed();
  }

  async refresh(): Promise<void> {
    try {
      this.set({ list: await getJson<EpisodeList>('api/episodes'), listProblem: '' });
    } catch (error) {
      this.set({ listProblem: (error as Error).message });
    }
  }

  async select(id: string): Promise<void> {
    this.set({ selected: id, view: null, viewProblem: '' });
    try {
      const view = await getJson<EpisodeView>(`api/episodes/${encodeURIComponent(id)}`);
      if (this.state.selected === id) this.set({ view });
    } catch (error) {
      if (this.state.selected === id) this.set({ viewProblem: (error as Error).message });
    }
  }

  async export(name: string): Promise<void> {
    this.set({ exportProblem: '' });
    try {
      this.set({ job: await postJson<ExportJob>('api/export', { name }) });
    } catch (error) {
      this.set({ exportProblem: (error as Error).message });
    }
  }
}
