import { createSocket } from 'node:dgram';
import { EntryBoundary } from '../core/entry-boundary.ts';
import { parseStateSample, type StateSample } from '../messages/state-sample.ts';
import type { Telemetry } from '../messages/telemetry.ts';
import { parseTelemetry } from '../messages/telemetry-schema.ts';
import type { Rig } from '../rig/rig.ts';
import { writeFrame } from '../wire/codecs/frame.ts';

const RENEW_MS = 1000;

export interface TelemetryFeed {
  /** Datagrams from the operator that were not telemetry. */
  readonly refused: number;
  close(): void;
}

/** Subscribes to the operator on this machine, whenever it runs. With `onState` also to every state of the robot. */
export function openTelemetryFeed(
  rig: Rig,
  onTelemetry: (telemetry: Telemetry) => void,
  onState?: (state: StateSample) => void,
): TelemetryFeed {
  const { telemetryPort } = rig.console;
  const socket = createSocket('udp4');
  const hello = new Uint8Array(64);
  const length = writeFrame('hello', { session: 1, ...(onState && { states: true }) }, hello);
  const subscribe = () => socket.send(hello.slice(0, length), telemetryPort, '127.0.0.1', () => {});
  const boundary = new EntryBoundary('telemetry');
  let refused = 0;
  socket.on('error', () => {});
  socket.on('message', (bytes, from) => {
    if (from.port !== telemetryPort || from.address !== '127.0.0.1') return;
    const state = onState === undefined ? 'malformed' : parseStateSample(bytes);
    if (typeof state !== 'string') return boundary.run(() => onState?.(state));
    const telemetry = parseTelemetry(bytes);
    if (typeof telemetry === 'string') refused++;
    else boundary.run(() => onTelemetry(telemetry));
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
