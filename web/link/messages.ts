import type { RobotModel } from '../../src/core/robot-model.ts';
import type { Telemetry } from '../../src/core/telemetry.ts';

/** First message on every connection. */
export interface Hello {
  kind: 'hello';
  model: RobotModel;
  token: string | null;
}

export type ServerMessage = Hello | Telemetry;

/** Server → page. Null for anything else: the page ignores what it does not know. */
export function parseServerMessage(text: string): ServerMessage | null {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof message !== 'object' || message === null || !('kind' in message)) return null;
  if (message.kind === 'hello' && 'model' in message) return message as Hello;
  if (message.kind === 'telemetry' && 'link' in message && 'input' in message) return message as Telemetry;
  return null;
}
