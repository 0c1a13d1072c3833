/** Runs in a worker: one camera's socket, newest picture only, decoded and drawn off the page's thread. */

interface Start {
  url: string;
  canvas: OffscreenCanvas;
}

export interface CameraNews {
  kind: 'shown' | 'closed';
  frames: number;
  widthPx: number;
  heightPx: number;
}

const RETRY_MS = 1000;

self.onmessage = ({ data }: MessageEvent<Start>) => new View(data).connect();

class View {
  readonly #url: string;
  readonly #canvas: OffscreenCanvas;
  readonly #paper: OffscreenCanvasRenderingContext2D | null;
  #waiting: Blob | null = null;
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
    socket.onmessage = ({ data }: MessageEvent<Blob>) => {
      this.#waiting = data;
      if (!this.#busy) void this.#work();
    };
    socket.onclose = () => {
      this.#tell('closed');
      setTimeout(() => this.connect(), RETRY_MS);
    };
  }

  /** Whatever came while a picture was being decoded, only the last of it is decoded next. */
  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#waiting !== null) {
      const blob = this.#waiting;
      this.#waiting = null;
      try {
        this.#draw(await createImageBitmap(blob));
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
