import type { IncomingMessage } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import type { FrameReceiver } from '../camera/channel/frame-receiver.ts';
import { openFrameReceiver } from '../camera/receiver.ts';
import { EntryBoundary } from '../core/entry-boundary.ts';
import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { requestUrl } from '../http/request-url.ts';
import type { ReceivedFrame } from '../messages/recording.ts';
import type { VideoEvent } from '../messages/video-event.ts';
import { cameraNames, frameReceiverConfig } from '../rig/camera-channel.ts';
import type { Rig } from '../rig/rig.ts';
import { PictureStamps } from './picture-stamps.ts';

/** A view that has not received its last picture yet is skipped: newest only, no backlog. */
const BACKED_UP_BYTES = 64 * 1024;

/** Pictures for pages: each view has its own socket, never the one that controls the robot. */
export class CameraViews {
  readonly names: string[];
  readonly sockets = new WebSocketServer({ noServer: true, maxPayload: 1024, perMessageDeflate: false });
  readonly #newest = new Map<string, Uint8Array>();
  readonly #views = new Map<string, Set<WebSocket>>();
  readonly #stamps: PictureStamps;
  readonly #boundary = new EntryBoundary('message from a camera view');
  #receiver: FrameReceiver | null = null;
  #closed = false;

  /** `report` receives the timing of sampled pictures, for the trace. */
  constructor(names: readonly string[], report: (event: VideoEvent) => void = () => {}) {
    this.names = [...names];
    this.#stamps = new PictureStamps(report, monotonicClock.nowNs);
    for (const name of names) this.#views.set(name, new Set());
    this.sockets.shouldHandle = (request) => this.#views.has(nameOf(request));
    this.sockets.on('connection', (socket: WebSocket, request: IncomingMessage) =>
      this.#join(socket, nameOf(request)),
    );
  }

  /** No views without cameras, or where frames cannot be received; `why` gets the reason. */
  static async open(
    rig: Rig,
    why: (reason: string) => void,
    report: (event: VideoEvent) => void,
  ): Promise<CameraViews> {
    const views = new CameraViews(cameraNames(rig), report);
    if (views.names.length === 0) return views;
    try {
      const receiver = await openFrameReceiver(frameReceiverConfig(rig), (frame) => views.show(frame));
      if (views.#closed) receiver.close();
      else views.#receiver = receiver;
      return views;
    } catch (error) {
      if (!(error instanceof TeleopError)) throw error;
      why(`no camera views: ${error.message}. ${error.hint}`);
      return new CameraViews([]);
    }
  }

  show(frame: ReceivedFrame): void {
    const { camera, bytes } = frame;
    const views = this.#views.get(camera);
    if (views === undefined) return;
    this.#newest.set(camera, bytes);
    const ready = [...views].filter(
      (socket) => socket.readyState === WebSocket.OPEN && socket.bufferedAmount < BACKED_UP_BYTES,
    );
    this.#stamps.onPicture(frame, ready[0]);
    for (const socket of ready) socket.send(bytes, { binary: true });
  }

  close(): void {
    this.#closed = true;
    this.#receiver?.close();
    for (const socket of this.sockets.clients) socket.terminate();
  }

  #join(socket: WebSocket, name: string): void {
    const views = this.#views.get(name)!;
    socket.on('error', () => {});
    views.add(socket);
    socket.on('message', (data, isBinary) => {
      if (isBinary) return;
      this.#boundary.run(
        () => this.#stamps.receive(socket, name, String(data)),
        () => socket.close(1011, 'internal error'),
      );
    });
    socket.on('close', () => views.delete(socket));
    const newest = this.#newest.get(name);
    if (newest) socket.send(newest, { binary: true });
  }
}

const nameOf = (request: IncomingMessage): string => requestUrl(request)?.searchParams.get('name') ?? '';
