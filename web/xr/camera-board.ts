import type { PictureSource } from '../link/page-link.ts';
import { Board } from './board.ts';

const RETRY_MS = 3000;

/** A robot camera on a board. Decodes only the newest frame. Hidden until the first frame arrives. */
export class CameraBoard {
  readonly board = new Board(0.56, 0.42, 1142);
  readonly #url: string;
  readonly #video = document.createElement('video');
  #decoding = false;
  #next: Blob | null = null;
  #closed = false;

  /** `source`: delivers the frames; null opens a WebSocket for this camera. */
  constructor(name: string, page: string, source: PictureSource | null) {
    const url = new URL('camera', page);
    url.protocol = url.protocol.replace('http', 'ws');
    url.searchParams.set('name', name);
    this.#url = url.href;
    this.board.root.visible = false;
    if (source === null) this.#open();
    else {
      source.onPicture(name, (jpeg) => void this.#take(new Blob([jpeg])));
      source.onVideo(name, (stream) => this.#watch(stream));
    }
  }

  close(): void {
    this.#closed = true;
  }

  #open(): void {
    if (this.#closed) return;
    const socket = new WebSocket(this.#url);
    socket.binaryType = 'blob';
    socket.onmessage = ({ data }) => {
      if (this.#closed) socket.close();
      else if (data instanceof Blob) void this.#take(data);
    };
    socket.onclose = () => {
      this.board.root.visible = false;
      setTimeout(() => this.#open(), RETRY_MS);
    };
  }

  /** The camera arrives as video instead. */
  #watch(stream: MediaStream | null): void {
    const video = this.#video;
    video.srcObject = stream;
    if (stream === null) return;
    video.muted = true;
    void video.play().catch(() => {});
    const next = () => {
      if (this.#closed || video.srcObject !== stream) return;
      this.#draw(video);
      video.requestVideoFrameCallback(next);
    };
    video.requestVideoFrameCallback(next);
  }

  #draw(picture: CanvasImageSource): void {
    this.board.context.drawImage(picture, 0, 0, this.board.width, this.board.height);
    this.board.show();
    this.board.root.visible = true;
  }

  async #take(picture: Blob): Promise<void> {
    this.#next = picture;
    if (this.#decoding) return;
    this.#decoding = true;
    while (this.#next !== null) {
      const newest = this.#next;
      this.#next = null;
      try {
        const bitmap = await createImageBitmap(newest);
        this.#draw(bitmap);
        bitmap.close();
      } catch {
        // Not a valid JPEG: wait for the next frame.
      }
    }
    this.#decoding = false;
  }
}
