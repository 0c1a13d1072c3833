import { create, element, setText } from '../dom.ts';
import type { FleetLink } from '../link/fleet-link.ts';

const TOLD_MS = 6000;

/** Over every page: who asks for a robot of this page, and what became of this page's own questions. */
export class Questions {
  readonly #root = element('questions', HTMLElement);
  readonly #fleet: FleetLink;
  readonly #open = new Map<string, HTMLElement>();
  /** The last word about a robot; a newer one takes its place. */
  readonly #notes = new Map<string, HTMLElement>();

  constructor(fleet: FleetLink) {
    this.#fleet = fleet;
    fleet.onMessage((message) => {
      if (message.kind === 'question') this.#show(message.ask, message.robot, message.from);
      else if (message.kind === 'question-over') this.#close(message.ask);
      else if (message.kind === 'answered') this.say(message.text, message.outcome === 'yes', message.robot);
    });
    fleet.onStatus((status) => {
      if (status === 'open') for (const ask of [...this.#open.keys()]) this.#close(ask);
    });
  }

  /** A sentence that goes by itself. */
  say(text: string, good = false, robot = ''): void {
    this.#notes.get(robot)?.remove();
    const note = create('p', good ? 'question said good' : 'question said', text);
    note.dataset['testid'] = 'said';
    this.#notes.set(robot, note);
    this.#root.append(note);
    setTimeout(() => note.remove(), TOLD_MS);
  }

  #show(ask: string, robot: string, from: string): void {
    this.#close(ask);
    const box = create('div', 'question');
    box.dataset['testid'] = 'question';
    const text = create('p');
    text.append(create('b', '', from), ' asks for ', create('b', '', robot));
    const button = (label: string, name: string, yes: boolean) => {
      const made = create('button', yes ? 'plain strong' : 'plain', label);
      made.setAttribute('type', 'button');
      made.dataset['testid'] = name;
      made.addEventListener('click', () => void this.#answer(ask, yes));
      return made;
    };
    const hint = create('small', 'question-hint muted', 'Handing over stops the robot, and it is theirs.');
    text.append(hint);
    box.append(text, button('Hand over', 'hand-over', true), button('Keep it', 'keep', false));
    this.#open.set(ask, box);
    this.#root.append(box);
  }

  async #answer(ask: string, yes: boolean): Promise<void> {
    const box = this.#open.get(ask);
    for (const button of box?.querySelectorAll('button') ?? []) button.disabled = true;
    const reply = await this.#fleet.request({ kind: 'hand-over', ask, yes });
    this.#close(ask);
    if (!reply.ok) this.say(reply.text);
  }

  #close(ask: string): void {
    this.#open.get(ask)?.remove();
    this.#open.delete(ask);
    setText(element('announce', HTMLElement), '');
  }
}
