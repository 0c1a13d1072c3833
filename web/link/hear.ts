import { type AccessMessage, type AccessRequest, answerProbe } from '../../src/messages/console-access.ts';
import { parseServerMessage, type ServerMessage } from './messages.ts';

export interface Hearers {
  onMessage(message: ServerMessage): void;
  onAccess(message: AccessMessage): void;
  /** The way the text came. */
  answer(message: AccessRequest): void;
}

const ACCESS = /^\{"kind":"(access|refused|probe|path|rtc)"/;

/** One text from whoever drives the robot. Probes are answered here. What the page does not know it ignores. */
export function hearText(text: string, hearers: Hearers): void {
  if (ACCESS.test(text)) {
    const message = JSON.parse(text) as AccessMessage;
    const receivedNs = performance.now() * 1e6;
    if (message.kind === 'probe') hearers.answer(answerProbe(message, receivedNs, performance.now() * 1e6));
    else hearers.onAccess(message);
    return;
  }
  const message = parseServerMessage(text);
  if (message !== null) hearers.onMessage(message);
}
