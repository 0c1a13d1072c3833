import { createSocket } from 'node:dgram';
import type { PulseEvent, PulseReport } from '../messages/pulse-event.ts';
import type { DeskRequest } from '../messages/telemetry.ts';
import { parseTelemetry } from '../messages/telemetry-schema.ts';
import type { VideoEvent } from '../messages/video-event.ts';
import type { Rig } from '../rig/rig.ts';
import { encodeHello } from '../wire/codecs/desk.ts';
import { writeFrame } from '../wire/codecs/frame.ts';

const MAX_REQUEST_BYTES = 1472;

/** Connects a page's server to the operator process on the same machine. */
export interface OperatorLink {
  forward(request: Exclude<DeskRequest, PulseReport>): void;
  /** Sends a whole datagram; the link takes ownership of the bytes. */
  hands(bytes: Uint8Array): void;
  video(event: VideoEvent): void;
  pulse(event: PulseEvent): void;
  /** Validated telemetry, unchanged. */
  onTelemetry(listener: (text: string) => void): void;
  close(): void;
}

export function openOperatorLink({
  deskPort,
  telemetryPort,
}: Pick<Rig['console'], 'deskPort' | 'telemetryPort'>): OperatorLink {
  const socket = createSocket('udp4');
  const bytes = new Uint8Array(MAX_REQUEST_BYTES);
  socket.on('error', () => {});
  const send = (port: number, length: number) => {
    if (length > 0) socket.send(bytes.slice(0, length), port, '127.0.0.1', () => {});
  };
  const subscribe = () => send(telemetryPort, encodeHello(1, bytes));
  socket.bind(0, '127.0.0.1', subscribe);
  const timer = setInterval(subscribe, 1000);
  return {
    forward(request) {
      // Requests that end in a file bypass the control thread.
      const isFiled = request.kind === 'record' || request.kind === 'person';
      const port = isFiled ? telemetryPort : deskPort;
      send(port, writeFrame(request.kind === 'hand' ? 'hand' : 'request', request, bytes));
    },
    hands(datagram) {
      socket.send(datagram, deskPort, '127.0.0.1', () => {});
    },
    video: (event) => send(telemetryPort, writeFrame('request', event, bytes)),
    pulse: (event) => send(telemetryPort, writeFrame('request', event, bytes)),
    onTelemetry(listener) {
      socket.on('message', (data, from) => {
        if (from.port !== telemetryPort || from.address !== '127.0.0.1') return;
        if (typeof parseTelemetry(data) !== 'string') listener(data.toString());
      });
    },
    close() {
      clearInterval(timer);
      socket.close();
    },
  };
}
