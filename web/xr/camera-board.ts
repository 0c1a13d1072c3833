import type { PictureSource } from '../link/page-link.ts';
import { Board } from './board.ts';

const RETRY_MS = 3000;

/** A robot camera on a board. Decodes only the newest frame. Hidden until the first frame arrives. */
export class CameraBoard {
  readonly board = new Board(0.56, 0.42, 1142);
  readonly #url: string;
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
    else source.onPicture(name, (jpeg) => void this.#take(new Blob([jpeg])));
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

  async #take(picture: Blob): Promise<void> {
    this.#next = picture;
    if (this.#decoding) return;
    this.#decoding = true;
    while (this.#next !== null) {
      const newest = this.#next;
      this.#next = null;
      try {
        const bitmap = await createImageBitmap(newest);
        this.board.context.drawImage(bitmap, 0, 0, this.board.width, this.board.height);
        bitmap.close();
        this.board.show();
        this.board.root.visible = true;
      } catch {
        // Not a valid JPEG: wait for the next frame.
      }
    }
    this.#decoding = false;
  }
}
