import { type AccessMessage, type AccessRequest, answerProbe } from '../../src/messages/console-access.ts';
import { parseServerMessage, type ServerMessage } from './messages.ts';

export interface TextHandlers {
  onMessage(message: ServerMessage): void;
  onAccess(message: AccessMessage): void;
  /** Replies on the channel that carried the text. */
  answer(message: AccessRequest): void;
}

const ACCESS = /^\{"kind":"(access|refused|probe|path|rtc)"/;

/** Dispatches one text message from the operator. Answers probes here. Ignores unknown messages. */
export function receiveText(text: string, handlers: TextHandlers): void {
  if (ACCESS.test(text)) {
    const message = JSON.parse(text) as AccessMessage;
    const receivedNs = performance.now() * 1e6;
    if (message.kind === 'probe') handlers.answer(answerProbe(message, receivedNs, performance.now() * 1e6));
    else handlers.onAccess(message);
    return;
  }
  const message = parseServerMessage(text);
  if (message !== null) handlers.onMessage(message);
}
