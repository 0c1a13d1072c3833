import { createSocket } from 'node:dgram';
import type { Telemetry } from '../../core/telemetry.ts';
import { encodeHello } from '../../wire/codecs/desk.ts';
import type { Rig } from '../rig.ts';

const RENEW_MS = 1000;

export interface TelemetryFeed {
  /** Datagrams from the operator that were not telemetry. */
  readonly refused: number;
  close(): void;
}

/** Subscribes to an operator on this machine, whenever it runs. */
export function openTelemetryFeed(rig: Rig, onTelemetry: (telemetry: Telemetry) => void): TelemetryFeed {
  const { telemetryPort } = rig.console;
  const socket = createSocket('udp4');
  const hello = new Uint8Array(64);
  const length = encodeHello(1, hello);
  const subscribe = () => socket.send(hello.slice(0, length), telemetryPort, '127.0.0.1', () => {});
  let refused = 0;
  socket.on('error', () => {});
  socket.on('message', (bytes, from) => {
    if (from.port !== telemetryPort || from.address !== '127.0.0.1') return;
    const telemetry = parseTelemetry(bytes.toString());
    if (telemetry === null) refused++;
    else onTelemetry(telemetry);
  });
  socket.bind(0, '127.0.0.1', subscribe);
  const timer = setInterval(subscribe, RENEW_MS);
  return {
    get refused() {
      return refused;
    },
    close() {
      clearInterval(timer);
      socket.close();
    },
  };
}

function parseTelemetry(text: string): Telemetry | null {
  try {
    const value = JSON.parse(text) as Telemetry | null;
    return value?.kind === 'telemetry' ? value : null;
  } catch {
    return null;
  }
}
