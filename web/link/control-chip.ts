import type { AccessMessage, AccessState } from '../../src/messages/console-access.ts';
import { element, setAttribute, setText } from '../dom.ts';
import type { PageLink } from './page-link.ts';

const REFUSED_MS = 3000;
const REFUSED_WORDS: Record<string, string> = {
  viewer: 'viewers cannot do this',
  'not-in-control': 'not in control',
};

/** Why this page may not send requests to the robot. */
export interface Watching {
  note: string;
  /** Otherwise somebody else drives. */
  isViewer: boolean;
  /** Takes over from who drives. */
  take(): void;
}

/** A page on the machine of the console, as the console names it. */
const LOCAL = 'this computer';

/**
 * Shows who is in control, with a button to take over, in the header and beside the controls, which are disabled while
 * somebody else drives. The chip's name links to the pairing page.
 */
export class ControlChip {
  readonly #chip = element('chip-control', HTMLElement);
  readonly #text = element('chip-control-text', HTMLElement);
  readonly #note = element('control-note', HTMLElement);
  readonly #noteText = element('control-note-text', HTMLElement);
  readonly #takes = [
    element('take-control', HTMLButtonElement),
    element('control-note-take', HTMLButtonElement),
  ];
  /** Everything that sends requests to the robot, except the e-stop. */
  readonly #controls = ['drive', 'actions', 'inputs', 'link-controls', 'task-actions', 'record'].map((id) =>
    element(id, HTMLElement),
  );
  #access: AccessState | null = null;
  #timer = 0;
  readonly #changed: (watching: Watching | null) => void;
  readonly #take: () => void;

  /** `changed`: null when this page may send requests. */
  constructor(link: PageLink, changed: (watching: Watching | null) => void) {
    this.#changed = changed;
    this.#take = () => link.sendAccess({ kind: 'control', action: 'take' });
    link.onAccess = (message) => this.#receive(message);
    for (const button of this.#takes) button.addEventListener('click', this.#take);
  }

  /** This page may not send requests: it only watches, or somebody else drives. */
  get isBlocked(): boolean {
    return this.#access !== null && isBlocked(this.#access);
  }

  #receive(message: AccessMessage): void {
    if (message.kind === 'access') {
      this.#access = message;
      this.#draw();
    } else if (message.kind === 'refused' && message.request !== 'hand') {
      setText(this.#text, REFUSED_WORDS[message.reason] ?? message.reason);
      setAttribute(this.#chip, 'data-tone', 'bad');
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.#draw(), REFUSED_MS);
    }
  }

  #draw(): void {
    if (this.#access === null) return;
    const { role, inControl, holder } = this.#access;
    const watching = role === 'viewer' ? 'viewer' : (holder ?? 'free');
    setText(this.#text, inControl ? 'you' : watching);
    setAttribute(this.#chip, 'data-tone', inControl ? 'good' : holder === null ? 'off' : 'warn');
    const isOther = !inControl && holder !== null;
    for (const button of this.#takes) button.hidden = role === 'viewer' || !isOther;
    for (const part of this.#controls) part.inert = this.isBlocked;
    this.#note.hidden = !this.isBlocked;
    const note = whoDrives(role, holder);
    setText(this.#noteText, note);
    this.#changed(this.isBlocked ? { note, isViewer: role === 'viewer', take: this.#take } : null);
  }
}

const isBlocked = ({ role, inControl, holder }: AccessState): boolean =>
  role === 'viewer' || (!inControl && holder !== null);

function whoDrives(role: AccessState['role'], holder: string | null): string {
  const driver = holder === LOCAL ? 'Another window on the console’s computer' : holder;
  const drives = driver === null ? 'Nobody is driving.' : `${driver} is driving.`;
  return role === 'viewer' ? `You are watching: this device is paired as a viewer. ${drives}` : drives;
}
