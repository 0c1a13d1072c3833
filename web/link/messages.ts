import type { ConsoleHello, ExportEvent, LinkEvent, ReplayEvent } from '../../src/messages/console.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';

export type ServerMessage = ConsoleHello | LinkEvent | ExportEvent | ReplayEvent | Telemetry;

const PARTS: Record<ServerMessage['kind'], string> = {
  hello: 'model',
  link: 'link',
  export: 'job',
  replay: 'job',
  telemetry: 'link',
};

/** Parses a message from the server. Null for an unknown message, which the page ignores. */
export function parseServerMessage(text: string): ServerMessage | null {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof message !== 'object' || message === null || !('kind' in message)) return null;
  const part = PARTS[message.kind as ServerMessage['kind']];
  return part !== undefined && part in message ? (message as ServerMessage) : null;
}
