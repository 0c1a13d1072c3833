import { create, element, setText } from '../dom.ts';
import type { FleetLink } from '../link/fleet-link.ts';

const NOTE_MS = 6000;

/** Shown on every page: requests for robots that this page holds, and the outcome of its own requests. */
export class HandoverRequests {
  readonly #root = element('handovers', HTMLElement);
  readonly #fleet: FleetLink;
  readonly #open = new Map<string, HTMLElement>();
  /** The last note about each robot; a newer one replaces it. */
  readonly #notes = new Map<string, HTMLElement>();

  constructor(fleet: FleetLink) {
    this.#fleet = fleet;
    fleet.onMessage((message) => {
      if (message.kind === 'question') this.#show(message.ask, message.robot, message.from);
      else if (message.kind === 'question-over') this.#close(message.ask);
      else if (message.kind === 'answered')
        this.notify(message.text, message.outcome === 'yes', message.robot);
    });
    fleet.onStatus((status) => {
      if (status === 'open') for (const id of [...this.#open.keys()]) this.#close(id);
    });
  }

  /** Shows a note for a few seconds. */
  notify(text: string, good = false, robot = ''): void {
    this.#notes.get(robot)?.remove();
    const note = create('p', good ? 'handover note good' : 'handover note', text);
    note.dataset['testid'] = 'said';
    this.#notes.set(robot, note);
    this.#root.append(note);
    setTimeout(() => note.remove(), NOTE_MS);
  }

  #show(id: string, robot: string, from: string): void {
    this.#close(id);
    const box = create('div', 'handover');
    box.dataset['testid'] = 'question';
    const text = create('p');
    text.append(create('b', '', from), ' requests ', create('b', '', robot));
    const button = (label: string, name: string, yes: boolean) => {
      const made = create('button', yes ? 'plain strong' : 'plain', label);
      made.setAttribute('type', 'button');
      made.dataset['testid'] = name;
      made.addEventListener('click', () => void this.#answer(id, yes));
      return made;
    };
    const hint = create(
      'small',
      'handover-hint muted',
      'Handing over stops the robot and transfers the lease.',
    );
    text.append(hint);
    box.append(text, button('Hand over', 'hand-over', true), button('Keep', 'keep', false));
    this.#open.set(id, box);
    this.#root.append(box);
  }

  async #answer(id: string, yes: boolean): Promise<void> {
    const box = this.#open.get(id);
    for (const button of box?.querySelectorAll('button') ?? []) button.disabled = true;
    const reply = await this.#fleet.request({ kind: 'hand-over', ask: id, yes });
    this.#close(id);
    if (!reply.ok) this.notify(reply.text);
  }

  #close(id: string): void {
    this.#open.get(id)?.remove();
    this.#open.delete(id);
    setText(element('announce', HTMLElement), '');
  }
}
