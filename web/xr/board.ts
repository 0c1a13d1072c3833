import { CanvasTexture, Group, LinearFilter, Mesh, MeshBasicMaterial, PlaneGeometry } from 'three';

/** A flat board in the scene, textured with a canvas. */
export class Board {
  readonly root = new Group();
  readonly context: CanvasRenderingContext2D;
  readonly #texture: CanvasTexture;

  constructor(widthM: number, heightM: number, pixelsPerM: number) {
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(widthM * pixelsPerM);
    canvas.height = Math.round(heightM * pixelsPerM);
    this.context = canvas.getContext('2d')!;
    this.#texture = new CanvasTexture(canvas);
    this.#texture.minFilter = LinearFilter;
    this.#texture.generateMipmaps = false;
    const material = new MeshBasicMaterial({ map: this.#texture, transparent: true, toneMapped: false });
    this.root.add(new Mesh(new PlaneGeometry(widthM, heightM), material));
  }

  get width(): number {
    return this.context.canvas.width;
  }

  get height(): number {
    return this.context.canvas.height;
  }

  /** Uploads what was drawn. */
  show(): void {
    this.#texture.needsUpdate = true;
  }
}
