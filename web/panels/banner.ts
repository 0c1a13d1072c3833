import type { Telemetry } from '../../src/messages/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import type { LinkStatus } from '../link/page-link.ts';
import { sentence } from './labels.ts';

export interface Situation {
  link: LinkStatus;
  fresh: boolean;
  telemetry: Telemetry | null;
  estopUndelivered: boolean;
  /** False when the console does not know this device. */
  paired: boolean;
  /** The fleet robot that this page drives; null beside an operator process. */
  robot: { name: string; problem: string; isOver: boolean } | null;
}

interface Notice {
  tone: 'bad' | 'warn';
  title: string;
  text: string;
  /** Show the link to the pairing page. */
  pair?: boolean;
  /** Show the button to try again. */
  retry?: boolean;
}

/** Shows the most serious connection problem. Overlays the view, so the layout does not shift. */
export class Banner {
  readonly #root = element('banner', HTMLElement);
  readonly #title = element('banner-title', HTMLElement);
  readonly #text = element('banner-text', HTMLElement);
  readonly #pair = element('banner-pair', HTMLElement);
  readonly #retry = element('banner-retry', HTMLElement);

  update(situation: Situation): void {
    const notice = noticeFor(situation);
    if (this.#root.hidden !== (notice === null)) this.#root.hidden = notice === null;
    if (notice === null) return;
    setAttribute(this.#root, 'data-tone', notice.tone);
    setText(this.#title, notice.title);
    setText(this.#text, notice.text);
    this.#pair.hidden = notice.pair !== true;
    this.#retry.hidden = notice.retry !== true;
  }
}

function noticeFor({ link, fresh, telemetry, estopUndelivered, paired, robot }: Situation): Notice | null {
  if (estopUndelivered) {
    const text = 'Use the emergency stop on the robot. This page sends the e-stop when it reconnects.';
    return { tone: 'bad', title: 'E-stop not delivered', text };
  }
  if (!paired) {
    const text = 'To see the robot, pair this device with the code from the console.';
    return { tone: 'warn', title: 'Device not paired', text, pair: true };
  }
  if (robot !== null && link !== 'open') return sessionNotice(robot);
  if (link !== 'open' && (telemetry !== null || link === 'closed')) {
    const text = 'The robot’s watchdog holds or stops it. Reconnecting…';
    return { tone: 'bad', title: 'Console disconnected', text };
  }
  if (telemetry === null) return null;
  if (!fresh) {
    const text = 'The page shows old data. The robot’s watchdog holds or stops it.';
    return { tone: 'bad', title: 'No telemetry', text };
  }
  if (!telemetry.link.connected) {
    return {
      tone: 'warn',
      title: 'No robot on the link',
      text: 'Waiting for the robot. The view shows its last known pose.',
    };
  }
  return fileNotice(telemetry);
}

/** Problems with trace and recording files. The robot runs without them. */
function fileNotice({ trouble = '', record }: Telemetry): Notice | null {
  if (trouble !== '') return { tone: 'warn', title: 'Trace incomplete', text: trouble };
  if (record?.state !== 'failed') return null;
  return { tone: 'warn', title: 'Recording stopped', text: record.message };
}

function sessionNotice({ name, problem, isOver }: NonNullable<Situation['robot']>): Notice | null {
  if (problem === '') return null;
  // Keep the case of a robot name, also at the start of a sentence.
  const why = problem.startsWith(name) ? problem : sentence(problem);
  const text = isOver
    ? `${why}. This page does not control the robot.`
    : `${why}. The robot’s watchdog holds or stops it. Reconnecting…`;
  return { tone: isOver ? 'warn' : 'bad', title: `Not connected to ${name}`, text, retry: isOver };
}
