import type { VideoAnswer, VideoAsk } from '../../src/messages/video-news.ts';

/** Runs in a worker: one camera's pictures, the newest only, decoded and drawn off the page's thread. */

interface Start {
  /** Of the camera's socket; empty: the page hands the pictures over. */
  url: string;
  canvas: OffscreenCanvas;
}

interface Handed {
  jpeg: ArrayBuffer;
}

export interface CameraNews {
  kind: 'shown' | 'closed';
  frames: number;
  widthPx: number;
  heightPx: number;
}

/** The console wants to know about the picture that follows. */
interface Asked {
  id: number;
  askedMs: number;
  socket: WebSocket;
}

interface Picture {
  blob: Blob;
  asked: Asked | null;
}

const RETRY_MS = 1000;
/** A page that is not on the screen is not drawn. */
const UNSEEN_MS = 500;

let view: View | null = null;

self.onmessage = ({ data }: MessageEvent<Start | Handed>) => {
  if ('jpeg' in data) view?.take(new Blob([data.jpeg]), null);
  else {
    view = new View(data);
    if (data.url !== '') view.connect();
  }
};

class View {
  readonly #url: string;
  readonly #canvas: OffscreenCanvas;
  readonly #paper: OffscreenCanvasRenderingContext2D | null;
  #waiting: Picture | null = null;
  #asked: Asked | null = null;
  #busy = false;
  #frames = 0;

  constructor({ url, canvas }: Start) {
    this.#url = url;
    this.#canvas = canvas;
    this.#paper = canvas.getContext('2d', { alpha: false });
  }

  connect(): void {
    const socket = new WebSocket(this.#url);
    socket.binaryType = 'blob';
    socket.onmessage = ({ data }: MessageEvent<Blob | string>) => {
      if (typeof data === 'string') {
        this.#asked = { id: (JSON.parse(data) as VideoAsk).id, askedMs: performance.now(), socket };
        return;
      }
      this.take(data, this.#asked);
      this.#asked = null;
    };
    socket.onclose = () => {
      this.#tell('closed');
      setTimeout(() => this.connect(), RETRY_MS);
    };
  }

  take(blob: Blob, asked: Asked | null): void {
    this.#waiting = { blob, asked };
    if (!this.#busy) void this.#work();
  }

  /** Whatever came while a picture was being decoded, only the last of it is decoded next. */
  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#waiting !== null) {
      const { blob, asked } = this.#waiting;
      this.#waiting = null;
      try {
        const picture = await createImageBitmap(blob);
        const decodedMs = performance.now();
        this.#draw(picture);
        if (asked !== null) answer(asked, decodedMs);
      } catch {
        // Not a picture: the next one may be.
      }
    }
    this.#busy = false;
  }

  #draw(picture: ImageBitmap): void {
    const { width, height } = picture;
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    this.#paper?.drawImage(picture, 0, 0);
    picture.close();
    this.#frames++;
    this.#tell('shown');
  }

  #tell(kind: CameraNews['kind']): void {
    const { width: widthPx, height: heightPx } = this.#canvas;
    self.postMessage({ kind, frames: this.#frames, widthPx, heightPx } satisfies CameraNews);
  }
}

/** What was drawn is on its way to the screen with the next frame of the display. */
function answer({ id, askedMs, socket }: Asked, decodedMs: number): void {
  let said = false;
  const say = (displayedMs: number | null) => {
    if (said || socket.readyState !== WebSocket.OPEN) return;
    said = true;
    const sentMs = performance.now();
    socket.send(
      JSON.stringify({ kind: 'stamped', id, askedMs, decodedMs, displayedMs, sentMs } satisfies VideoAnswer),
    );
  };
  setTimeout(() => say(null), UNSEEN_MS);
  self.requestAnimationFrame?.(() => say(performance.now()));
}
