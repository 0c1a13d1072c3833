import { create, element, setAttribute, setText } from '../dom.ts';
import type { PictureSource } from '../link/page-link.ts';
import type { CameraStatus } from './decode-worker.ts';
import { showVideo } from './video-view.ts';

/** A picture is stale after this long without a new frame. */
const STALE_MS = 1000;
const WATCH_MS = 500;

/** The rig's cameras. Hidden when there are none. A click enlarges one. */
export class CameraViewStrip {
  readonly #strip = element('cameras', HTMLElement);
  readonly #source: PictureSource | null;
  #names = '';
  #stereo: readonly string[] = [];

  /** `source`: delivers the frames; null opens a WebSocket per camera. */
  constructor(source: PictureSource | null) {
    this.#source = source;
  }

  /** `stereo`: the left and the right camera of a pair, if there is one. */
  setCameras(names: readonly string[], stereo: readonly string[] = []): void {
    const all = [...names, ...stereo].join(' ');
    if (all === this.#names) return;
    this.#names = all;
    this.#stereo = stereo;
    this.#strip.hidden = names.length === 0;
    this.#strip.replaceChildren(...names.map((name) => this.#tile(name)));
  }

  #tile(name: string): HTMLElement {
    const tile = create('button', 'camera');
    tile.setAttribute('type', 'button');
    tile.dataset['testid'] = `camera-${name}`;
    setAttribute(tile, 'aria-pressed', 'false');
    const canvas = document.createElement('canvas');
    canvas.setAttribute('aria-label', `Camera ${name}`);
    const rate = create('b', '', '—');
    const label = create('span', 'camera-label', name);
    label.append(rate);
    tile.append(canvas, label);
    tile.addEventListener('click', () => {
      const large = tile.getAttribute('aria-pressed') !== 'true';
      for (const other of this.#strip.querySelectorAll('.camera'))
        other.setAttribute('aria-pressed', String(other === tile && large));
    });
    const shown = watch(name, canvas, tile, rate, this.#source);
    if (this.#source !== null) tile.prepend(showVideo(this.#source, name, this.#stereo, shown));
    return tile;
  }
}

function watch(
  name: string,
  canvas: HTMLCanvasElement,
  tile: HTMLElement,
  rate: HTMLElement,
  source: PictureSource | null,
): (isVideo: boolean) => void {
  const worker = new Worker(new URL('./decode-worker.ts', import.meta.url), { type: 'module' });
  const url = new URL('camera', location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.hash = '';
  url.search = `?name=${encodeURIComponent(name)}`;
  const offscreen = canvas.transferControlToOffscreen();
  let [frames, shownMs, countedMs, counted] = [0, Number.NEGATIVE_INFINITY, performance.now(), 0];
  const shown = (isVideo: boolean) => {
    frames++;
    shownMs = performance.now();
    tile.classList.toggle('as-video', isVideo);
    canvas.dataset['frames'] = String(frames);
  };
  worker.onmessage = ({ data }: MessageEvent<CameraStatus>) => {
    if (data.kind === 'shown') shown(false);
  };
  worker.postMessage({ url: source === null ? url.href : '', canvas: offscreen }, [offscreen]);
  source?.onPicture(name, (jpeg) => worker.postMessage({ jpeg }, [jpeg]));
  setInterval(() => {
    const nowMs = performance.now();
    const stale = nowMs - shownMs > STALE_MS;
    tile.classList.toggle('stale', stale);
    const hz = ((frames - counted) * 1000) / (nowMs - countedMs);
    [countedMs, counted] = [nowMs, frames];
    setText(rate, stale ? 'no frames' : `${Math.round(hz)} Hz`);
  }, WATCH_MS);
  return shown;
}
