import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type {
  DatasetEntry,
  EpisodeEdit,
  EpisodeList,
  EpisodeView,
  ExportJob,
  ReplayJob,
} from '../../src/messages/console.ts';
import type { RecorderStatus } from '../../src/messages/recording.ts';
import type { Watching } from '../link/control-chip.ts';
import { getJson, postJson } from './api.ts';
import { duration } from './format.ts';
import { episodeAfter } from './review-keys.ts';

/** The state of the Record page. Replaced, never mutated. */
export interface RecordState {
  /** Undefined: not known yet. Null: this operator does not record. */
  recorder: RecorderStatus | null | undefined;
  robotState: string;
  /** Why this page may not record or label; null: it may. */
  watching: Watching | null;
  /** Inputs of the operator. */
  inputs: readonly string[];
  replay: ReplayJob | null;
  list: EpisodeList | null;
  listProblem: string;
  selected: string | null;
  view: EpisodeView | null;
  /** Shown beside it. */
  other: EpisodeView | null;
  viewProblem: string;
  /** What was deleted or trimmed last, until it is undone. */
  lastEdit: { id: string; text: string } | null;
  editProblem: string;
  job: ExportJob | null;
  exportProblem: string;
  model: RobotModel | null;
  datasets: DatasetEntry[];
  dataset: string;
  /** The chosen dataset's episodes; null while they are read. */
  scores: DatasetScore[] | null;
  datasetProblem: string;
}

/** An episode of a dataset, as the console reports it. */
export interface DatasetScore {
  episode: number;
  durationS: number;
  tasks: string[];
  label: string | null;
  motion: number[];
  marks: string[];
}

export class RecordStore {
  state: RecordState = {
    recorder: undefined,
    robotState: 'disconnected',
    watching: null,
    list: null,
    listProblem: '',
    inputs: [],
    replay: null,
    selected: null,
    view: null,
    other: null,
    viewProblem: '',
    lastEdit: null,
    editProblem: '',
    job: null,
    exportProblem: '',
    model: null,
    datasets: [],
    dataset: '',
    scores: null,
    datasetProblem: '',
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

  async label(id: string, label: string): Promise<void> {
    try {
      await postJson(`api/episodes/${encodeURIComponent(id)}`, { label });
      await this.refresh();
      if (this.state.selected !== id || this.state.view === null) return;
      const { info } = this.state.view;
      this.set({ view: { ...this.state.view, info: { ...info, label } }, editProblem: '' });
    } catch (error) {
      // The list stays.
      this.set({ editProblem: (error as Error).message });
    }
  }

  async select(id: string): Promise<void> {
    this.set({ selected: id, view: null, other: null, viewProblem: '' });
    try {
      const view = await getJson<EpisodeView>(`api/episodes/${encodeURIComponent(id)}`);
      if (this.state.selected === id) this.set({ view });
    } catch (error) {
      if (this.state.selected === id) this.set({ viewProblem: (error as Error).message });
    }
  }

  /** Empty: nothing beside the selected episode. */
  async compare(id: string): Promise<void> {
    this.set({ other: null });
    if (id === '') return;
    const { selected } = this.state;
    try {
      const other = await getJson<EpisodeView>(`api/episodes/${encodeURIComponent(id)}`);
      if (this.state.selected === selected) this.set({ other });
    } catch (error) {
      this.set({ viewProblem: (error as Error).message });
    }
  }

  /** Deletes an episode and goes on to the next one. */
  async delete(id: string): Promise<void> {
    const episodes = this.state.list?.episodes ?? [];
    const next =
      episodeAfter(episodes, id, 1) === id ? episodeAfter(episodes, id, -1) : episodeAfter(episodes, id, 1);
    if (!(await this.edit({ edit: 'delete', id })) || this.state.selected !== id) return;
    if (next !== null && next !== id) await this.select(next);
    else this.set({ selected: null, view: null, other: null });
  }

  /** Brings back what was deleted or trimmed last. */
  async undo(): Promise<void> {
    const { lastEdit } = this.state;
    if (lastEdit !== null) await this.edit({ edit: 'restore', id: lastEdit.id });
  }

  /** True: done. A trimmed or restored episode is shown. */
  async edit(edit: EpisodeEdit): Promise<boolean> {
    const info = this.state.list?.episodes.find(({ id }) => id === edit.id);
    const name = `${(info?.task || edit.id).replace(/\.$/, '')} (${duration(info?.durationS ?? 0)})`;
    this.set({ editProblem: '' });
    try {
      const list = await postJson<EpisodeList>('api/episodes', edit);
      const did = edit.edit === 'delete' ? 'Deleted' : 'Trimmed';
      this.set({
        list,
        lastEdit: edit.edit === 'restore' ? null : { id: edit.id, text: `${did}: ${name}.` },
      });
    } catch (error) {
      this.set({ editProblem: (error as Error).message });
      return false;
    }
    if (edit.edit !== 'delete') await this.select(edit.id);
    return true;
  }

  async refreshDatasets(): Promise<void> {
    try {
      const datasets = await getJson<DatasetEntry[]>('api/datasets');
      const kept = datasets.some(({ name }) => name === this.state.dataset);
      this.set({ datasets });
      await this.openDataset(kept ? this.state.dataset : (datasets[0]?.name ?? ''));
    } catch (error) {
      this.set({ datasetProblem: (error as Error).message });
    }
  }

  async openDataset(name: string): Promise<void> {
    this.set({ dataset: name, scores: null, datasetProblem: '' });
    if (name === '') return;
    try {
      const scores = await getJson<DatasetScore[]>(`api/datasets/${encodeURIComponent(name)}`);
      if (this.state.dataset === name) this.set({ scores });
    } catch (error) {
      this.set({ datasetProblem: (error as Error).message });
    }
  }

  async editDataset(edit: Record<string, unknown>): Promise<void> {
    this.set({ datasetProblem: '' });
    try {
      this.set({ job: await postJson<ExportJob>('api/datasets', { name: this.state.dataset, ...edit }) });
    } catch (error) {
      this.set({ datasetProblem: (error as Error).message });
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
