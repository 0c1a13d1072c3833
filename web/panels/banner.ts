import type { Telemetry } from '../../src/messages/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import type { LinkStatus } from '../link/page-link.ts';
import { sentence } from './words.ts';

export interface Situation {
  link: LinkStatus;
  fresh: boolean;
  telemetry: Telemetry | null;
  estopUndelivered: boolean;
  /** False: the console does not know this device. */
  paired: boolean;
  /** Of a fleet, driven from this page without an operator process; null: there is one. */
  robot: { name: string; problem: string; isOver: boolean } | null;
}

interface Notice {
  tone: 'bad' | 'warn';
  title: string;
  text: string;
  /** What helps is on the page for pairing. */
  pair?: boolean;
  /** It is for the user to begin anew. */
  retry?: boolean;
}

/** What is wrong with the connections, most serious first; it covers part of the view and moves nothing. */
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
    const text = 'Use the stop on the robot itself. The page sends yours as soon as it is connected.';
    return { tone: 'bad', title: 'E-stop not delivered', text };
  }
  if (!paired) {
    const text = 'It sees nothing of the robot until it is given the code that the console shows.';
    return { tone: 'warn', title: 'This device is not paired', text, pair: true };
  }
  if (robot !== null && link !== 'open') return sessionNotice(robot);
  if (link !== 'open' && (telemetry !== null || link === 'closed')) {
    const text = 'Robot is held/stopped by its own watchdog; reconnecting…';
    return { tone: 'bad', title: 'Console disconnected', text };
  }
  if (telemetry === null) return null;
  if (!fresh) {
    const text = 'What you see is old. The robot is held/stopped by its own watchdog.';
    return { tone: 'bad', title: 'No telemetry', text };
  }
  if (!telemetry.link.connected) {
    return {
      tone: 'warn',
      title: 'No robot on the link',
      text: 'Waiting for it; the pose shown is the last one known.',
    };
  }
  return fileNotice(telemetry);
}

/** What is lost of the session's files. The robot does not need them. */
function fileNotice({ trouble = '', record }: Telemetry): Notice | null {
  if (trouble !== '') return { tone: 'warn', title: 'The trace is incomplete', text: trouble };
  if (record?.state !== 'failed') return null;
  return { tone: 'warn', title: 'Recording stopped', text: record.message };
}

function sessionNotice({ name, problem, isOver }: NonNullable<Situation['robot']>): Notice | null {
  if (problem === '') return null;
  // A robot's name is written as it is, also where a sentence begins.
  const why = problem.startsWith(name) ? problem : sentence(problem);
  const text = isOver
    ? `${why}. Nothing of this page reaches the robot.`
    : `${why}. The robot is held/stopped by its own watchdog; connecting again…`;
  return { tone: isOver ? 'warn' : 'bad', title: `Not connected to ${name}`, text, retry: isOver };
}
