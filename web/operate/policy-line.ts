import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';

/** Ten seconds of telemetry. */
const KEPT = 300;
const WIDTH = 100;
const HEIGHT = 24;
/** Full height of the plot, unless more was seen. */
const MIN_TOP_RAD = 0.2;

/** Who drives when a policy is involved, how far person and policy differ, and the button to hand back. */
export class PolicyLine {
  readonly #line = element('policy', HTMLElement);
  readonly #text = element('policy-text', HTMLElement);
  readonly #handBack = element('hand-back', HTMLButtonElement);
  readonly #plot = element('policy-plot', SVGElement);
  readonly #differencesRad: number[] = [];

  constructor(send: (request: DeskRequest) => void) {
    this.#handBack.addEventListener('click', () => send({ kind: 'hand-back' }));
  }

  update(telemetry: Telemetry | null): void {
    const { driver, isInterrupted = false, disagreementRad = null } = telemetry?.operator ?? {};
    if (disagreementRad !== null) this.#differencesRad.push(disagreementRad);
    else if (!isInterrupted) this.#differencesRad.length = 0;
    if (this.#differencesRad.length > KEPT) this.#differencesRad.shift();
    const hasPlot = this.#differencesRad.length > 1;
    this.#line.hidden = driver !== 'policy' && !isInterrupted && !hasPlot;
    this.#handBack.hidden = !isInterrupted;
    setAttribute(this.#plot, 'class', hasPlot ? '' : 'hidden');
    if (this.#line.hidden) return;
    setText(this.#text, text(driver === 'policy', isInterrupted, disagreementRad));
    if (hasPlot) setAttribute(this.#plot.querySelector('polyline')!, 'points', this.#points());
  }

  #points(): string {
    const topRad = Math.max(MIN_TOP_RAD, ...this.#differencesRad);
    return this.#differencesRad
      .map((rad, i) => `${((WIDTH * i) / KEPT).toFixed(1)},${(HEIGHT * (1 - rad / topRad)).toFixed(1)}`)
      .join(' ');
  }
}

function text(isPolicy: boolean, isInterrupted: boolean, disagreementRad: number | null): string {
  if (isPolicy) return 'The policy drives. Engage to take over.';
  const differs = disagreementRad === null ? '' : ` It would go ${disagreementRad.toFixed(2)} rad elsewhere.`;
  return `${isInterrupted ? 'You drive; the policy waits.' : 'The policy runs along.'}${differs}`;
}
