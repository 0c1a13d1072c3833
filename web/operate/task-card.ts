import type { DeskRequest, Telemetry, WorldTelemetry } from '../../src/messages/telemetry.ts';
import { TASKS } from '../../src/world/task-list.ts';
import { create, element, setAttribute, setText } from '../dom.ts';
import { scoreText, timeText } from './task-text.ts';

/** The task of a simulated world: what to do, time, score, and the buttons that start over. */
export class TaskCard {
  readonly #card = element('task', HTMLElement);
  readonly #title = element('task-heading', HTMLElement);
  readonly #instruction = element('task-text', HTMLElement);
  readonly #time = element('task-time', HTMLElement);
  readonly #score = element('task-score', HTMLElement);
  readonly #bar = element('task-bar', HTMLElement);
  readonly #seed = element('task-seed', HTMLElement);
  readonly #choice = element('task-choice', HTMLSelectElement);
  #world: WorldTelemetry | null = null;

  constructor(send: (request: DeskRequest) => void) {
    const ask = (task: string, seed: number | null) => send({ kind: 'world', task, seed });
    this.#choice.addEventListener('change', () => ask(this.#choice.value, null));
    element('task-again', HTMLButtonElement).addEventListener('click', () =>
      ask('', this.#world?.seed ?? null),
    );
    element('task-next', HTMLButtonElement).addEventListener('click', () => ask('', null));
  }

  update({ world = null }: Telemetry): void {
    this.#card.hidden = world === null;
    if (world === null) return;
    const isNew = world.task !== this.#world?.task;
    this.#world = world;
    if (isNew) this.#showTask(world.task);
    setText(this.#time, timeText(world));
    setText(this.#score, scoreText(world));
    setText(this.#seed, `seed ${world.seed}`);
    setAttribute(this.#card, 'data-outcome', world.outcome);
    this.#bar.style.inlineSize = `${Math.round(100 * world.score)}%`;
  }

  #showTask(name: string): void {
    const task = TASKS.find((each) => each.name === name);
    setText(this.#title, task?.title ?? name);
    setText(this.#instruction, task?.instruction ?? '');
    // The others that this robot can do.
    const fitting = TASKS.filter(({ robot }) => robot === task?.robot);
    this.#choice.replaceChildren(
      ...fitting.map((each) => {
        const option = create('option', '', each.title) as HTMLOptionElement;
        option.value = each.name;
        return option;
      }),
    );
    this.#choice.value = name;
  }
}
