import { RecordFlow } from '../../src/desk/record-flow.ts';
import type { EpisodeList } from '../../src/messages/console.ts';
import type { EpisodeInfo } from '../../src/messages/recording.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import type { RecordAct } from '../drive/gamepad.ts';
import { isTyping } from '../drive/keys.ts';
import { getJson } from '../record/api.ts';
import { consoleKind } from '../shell/console-kind.ts';
import { instructionOf } from './task-text.ts';

const WORDS: Record<string, string> = {
  idle: 'ready',
  recording: 'recording',
  reset: 'ready for the next one',
  failed: 'failed',
};
/** An episode is listed once its file is closed. */
const LISTED_AFTER_MS = 1200;

/** Records demonstrations from the Operate page: buttons, keys, a counter, and the last episode. */
export class RecordCard {
  readonly #card = element('record', HTMLElement);
  readonly #state = element('record-state', HTMLElement);
  readonly #time = element('record-time', HTMLElement);
  readonly #count = element('record-count', HTMLElement);
  readonly #message = element('record-message', HTMLElement);
  readonly #start = element('record-start', HTMLButtonElement);
  readonly #recordingOnly = ['record-success', 'record-failure', 'record-discard'].map((id) =>
    element(id, HTMLButtonElement),
  );
  readonly #repeat = element('record-repeat', HTMLInputElement);
  readonly #flow: RecordFlow;
  #shown = '';
  #enabled = false;
  /** B hands the robot back to its policy, and must not discard what is being recorded. */
  #isHandingBack = false;

  constructor(send: (request: DeskRequest) => void) {
    const flow = new RecordFlow(send, instructionOf);
    this.#flow = flow;
    const acts: readonly [id: string, key: string, act: () => void][] = [
      ['record-start', 'KeyN', () => flow.start()],
      ['record-success', 'KeyN', () => flow.keep('success')],
      ['record-failure', 'KeyM', () => flow.keep('failure')],
      ['record-discard', 'KeyX', () => flow.discard()],
      ['record-redo', 'KeyB', () => flow.redo()],
    ];
    for (const [id, , act] of acts) element(id, HTMLButtonElement).addEventListener('click', act);
    window.addEventListener('keydown', (event) => {
      if (!this.#enabled || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event.target)) return;
      if (event.code === 'KeyB' && this.#isHandingBack) return;
      if (event.code === 'KeyN') flow.startOrKeep();
      else acts.find(([, key]) => key === event.code)?.[2]();
    });
    this.#repeat.addEventListener('change', () => {
      flow.repeats = this.#repeat.checked;
    });
  }

  /** Requested on a gamepad. */
  act(act: RecordAct): void {
    if (!this.#enabled) return;
    const flow = this.#flow;
    if (act === 'start-or-keep') flow.startOrKeep();
    else if (act === 'failure') flow.keep('failure');
    else if (act === 'discard') flow.discard();
    else flow.redo();
  }

  /** Keys work only while this page is shown and in control. */
  enable(enabled: boolean): void {
    this.#enabled = enabled;
  }

  update(telemetry: Telemetry): void {
    const { record = null, world = null } = telemetry;
    this.#isHandingBack = telemetry.operator.isInterrupted === true;
    this.#card.hidden = record === null;
    if (record === null) return;
    if (this.#enabled) this.#flow.update(telemetry);
    const recording = record.state === 'recording';
    setAttribute(this.#card, 'data-state', record.state);
    setText(this.#state, WORDS[record.state] ?? record.state);
    setText(this.#time, recording ? `${record.durationS.toFixed(0)} s` : '');
    setText(this.#count, `${this.#flow.kept} kept`);
    setText(this.#message, record.message);
    this.#start.hidden = recording;
    for (const button of this.#recordingOnly) button.disabled = !recording;
    this.#recordingOnly[0]!.hidden = !recording;
    this.#repeat.disabled = world === null;
    this.#showLast(record.state, record.episode);
  }

  #showLast(state: string, episode: string | null): void {
    const shown = state === 'recording' ? this.#shown : (episode ?? '');
    // A fleet's console has no list of this robot's episodes.
    if (shown === this.#shown || shown === '' || consoleKind.fleet !== null) return;
    this.#shown = shown;
    setTimeout(() => void loadLast(shown), LISTED_AFTER_MS);
  }
}

async function loadLast(id: string): Promise<void> {
  try {
    const { episodes } = await getJson<EpisodeList>('api/episodes');
    const found = episodes.find((each) => each.id === id);
    const root = element('record-last', HTMLElement);
    root.hidden = found === undefined;
    if (found) draw(found);
  } catch {
    // The banner reports a console that is gone.
  }
}

function draw(episode: EpisodeInfo): void {
  const { id, rows, durationS, label, quality, cameras } = episode;
  element('record-last', HTMLAnchorElement).href = `#/record/${encodeURIComponent(id)}`;
  const picture = element('record-thumbnail', HTMLImageElement);
  const [camera] = cameras;
  picture.hidden = camera === undefined;
  if (camera !== undefined) {
    const query = new URLSearchParams({ camera, row: String(Math.max(0, rows - 1)) });
    picture.src = `api/episodes/${encodeURIComponent(id)}/frame?${query}`;
  }
  const verdict =
    quality === null ? '' : quality.refusedBy.length === 0 ? 'good' : quality.refusedBy.join(', ');
  const words = [`${durationS.toFixed(1)} s`, `${rows} rows`, label ?? '', verdict].filter(
    (word) => word !== '',
  );
  setText(element('record-verdict', HTMLElement), words.join(' · '));
}
