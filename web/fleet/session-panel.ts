import { element, setAttribute, setText } from '../dom.ts';
import type { RobotPath } from '../link/robot-peer.ts';

const PATH_WORDS: Record<string, string> = {
  host: 'direct',
  prflx: 'direct',
  srflx: 'through NAT',
  relay: 'relayed',
};
const SLOW_MS = 100;

/** A session with a fleet robot: network path, sound and reconnect. */
export class SessionPanel {
  readonly #chip = element('chip-path', HTMLElement);
  readonly #text = element('chip-path-text', HTMLElement);
  readonly #sound = element('sound', HTMLButtonElement);
  readonly #audio = new Audio();

  constructor(robot: string) {
    document.body.dataset['console'] = 'robot';
    this.#chip.hidden = false;
    setText(element('chip-console-name', HTMLElement), 'Session');
    setText(element('model-title', HTMLElement), robot);
    this.#audio.dataset['testid'] = 'audio';
    this.#audio.muted = true;
    document.body.append(this.#audio);
    this.#sound.addEventListener('click', () => void this.#listen(this.#audio.muted));
  }

  onRetry(retry: () => void): void {
    element('banner-retry', HTMLButtonElement).addEventListener('click', retry);
  }

  showPath(path: RobotPath | null): void {
    const slow = (path?.rttMs ?? 0) > SLOW_MS || path?.kind === 'relay';
    setAttribute(this.#chip, 'data-tone', path === null ? 'off' : slow ? 'warn' : 'good');
    // Browsers report whole milliseconds.
    const rtt = path?.rttMs == null ? '' : path.rttMs < 1 ? ', < 1 ms' : `, ${path.rttMs.toFixed(0)} ms`;
    setText(this.#text, path === null ? '—' : `${PATH_WORDS[path.kind] ?? path.kind}${rtt}`);
    setAttribute(
      this.#chip,
      'title',
      path === null ? '' : `Candidates: ${path.kind}; round trip${rtt || ' —'}`,
    );
  }

  /** Browsers always allow muted sound; unmuting takes a user gesture. */
  play(stream: MediaStream): void {
    this.#audio.srcObject = stream;
    this.#sound.hidden = false;
    void this.#audio.play().catch(() => {});
    this.#draw();
  }

  async #listen(on: boolean): Promise<void> {
    this.#audio.muted = !on;
    await this.#audio.play().catch(() => {
      this.#audio.muted = true;
    });
    this.#draw();
  }

  #draw(): void {
    const { muted } = this.#audio;
    setAttribute(this.#sound, 'aria-pressed', String(!muted));
    setText(this.#sound, muted ? 'Sound off' : 'Sound on');
  }
}
