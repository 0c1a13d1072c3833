import type { VideoAnswer, VideoAsk } from '../../src/messages/video-event.ts';

/** Runs in a worker: decodes and draws the newest frame of one camera off the page's thread. */

interface Start {
  /** Address of the camera socket; empty when the page passes the frames. */
  url: string;
  canvas: OffscreenCanvas;
}

interface PassedFrame {
  jpeg: ArrayBuffer;
}

export interface CameraStatus {
  kind: 'shown' | 'closed';
  frames: number;
  widthPx: number;
  heightPx: number;
}

/** The console requests display stamps for the next frame. */
interface StampRequest {
  id: number;
  askedMs: number;
  socket: WebSocket;
}

interface Picture {
  blob: Blob;
  request: StampRequest | null;
}

const RETRY_MS = 1000;
/** A hidden page gets no animation frames. */
const HIDDEN_MS = 500;

let view: View | null = null;

self.onmessage = ({ data }: MessageEvent<Start | PassedFrame>) => {
  if ('jpeg' in data) view?.take(new Blob([data.jpeg]), null);
  else {
    view = new View(data);
    if (data.url !== '') view.connect();
  }
};

class View {
  readonly #url: string;
  readonly #canvas: OffscreenCanvas;
  readonly #context: OffscreenCanvasRenderingContext2D | null;
  #waiting: Picture | null = null;
  #request: StampRequest | null = null;
  #busy = false;
  #frames = 0;

  constructor({ url, canvas }: Start) {
    this.#url = url;
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d', { alpha: false });
  }

  connect(): void {
    const socket = new WebSocket(this.#url);
    socket.binaryType = 'blob';
    socket.onmessage = ({ data }: MessageEvent<Blob | string>) => {
      if (typeof data === 'string') {
        this.#request = { id: (JSON.parse(data) as VideoAsk).id, askedMs: performance.now(), socket };
        return;
      }
      this.take(data, this.#request);
      this.#request = null;
    };
    socket.onclose = () => {
      this.#report('closed');
      setTimeout(() => this.connect(), RETRY_MS);
    };
  }

  take(blob: Blob, request: StampRequest | null): void {
    this.#waiting = { blob, request };
    if (!this.#busy) void this.#work();
  }

  /** Skips frames that arrive during decoding, except the newest. */
  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#waiting !== null) {
      const { blob, request } = this.#waiting;
      this.#waiting = null;
      try {
        const picture = await createImageBitmap(blob);
        const decodedMs = performance.now();
        this.#draw(picture);
        if (request !== null) answer(request, decodedMs);
      } catch {
        // Not a valid JPEG: wait for the next frame.
      }
    }
    this.#busy = false;
  }

  #draw(picture: ImageBitmap): void {
    const { width, height } = picture;
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    this.#context?.drawImage(picture, 0, 0);
    picture.close();
    this.#frames++;
    this.#report('shown');
  }

  #report(kind: CameraStatus['kind']): void {
    const { width: widthPx, height: heightPx } = this.#canvas;
    self.postMessage({ kind, frames: this.#frames, widthPx, heightPx } satisfies CameraStatus);
  }
}

/** The next display refresh shows what was drawn. */
function answer({ id, askedMs, socket }: StampRequest, decodedMs: number): void {
  let answered = false;
  const send = (displayedMs: number | null) => {
    if (answered || socket.readyState !== WebSocket.OPEN) return;
    answered = true;
    const sentMs = performance.now();
    socket.send(
      JSON.stringify({ kind: 'stamped', id, askedMs, decodedMs, displayedMs, sentMs } satisfies VideoAnswer),
    );
  };
  setTimeout(() => send(null), HIDDEN_MS);
  self.requestAnimationFrame?.(() => send(performance.now()));
}
