import { Group, LinearFilter, Mesh, MeshBasicMaterial, PlaneGeometry, VideoTexture } from 'three';
import type { PictureSource } from '../link/page-link.ts';

/** Size and place of the picture in front of the wearer. */
const WIDTH_M = 1.2;
const CENTRE_M = [0, 1.45, -1.6] as const;
/** three.js shows these layers to one eye only. */
const EYES = [1, 2] as const;

export interface StereoPlace {
  session: XRSession;
  space: XRReferenceSpace;
  /** The layer that the scene is drawn into. */
  scene: XRLayer;
}

/**
 * A stereo pair in front of the wearer, from one video with both pictures side by side. Where the headset
 * offers media layers, its compositor draws the video by itself, at its own rate and full sharpness; elsewhere
 * the scene has a board with a picture for each eye. Hidden until the first picture.
 */
// UNVERIFIED ON HARDWARE
export class StereoView {
  readonly root = new Group();
  readonly video = document.createElement('video');
  #media: XRQuadLayer | null = null;
  #place: StereoPlace | null = null;

  constructor(source: PictureSource, stereo: readonly string[]) {
    this.video.muted = this.video.autoplay = this.video.playsInline = true;
    this.root.position.set(...CENTRE_M);
    this.root.visible = false;
    source.onVideo(stereo.join('+'), (stream) => {
      this.video.srcObject = stream;
      this.root.visible = false;
      if (stream !== null) void this.video.play().catch(() => {});
    });
    this.video.addEventListener('loadeddata', () => {
      this.#build();
      this.root.visible = this.#media === null;
      this.#addLayer();
    });
  }

  /** `media` while a media layer shows it, `board` while the scene does, empty while nothing does. */
  get shownBy(): 'media' | 'board' | '' {
    if (this.#media !== null) return 'media';
    return this.root.visible ? 'board' : '';
  }

  /**
   * Call when a session has started, with the layer that the scene is drawn into. The media layer needs the
   * video's size, so it is added with the first picture.
   */
  enter(place: StereoPlace): void {
    this.#place = place;
    place.session.addEventListener('end', () => this.#leave());
    this.#addLayer();
  }

  #addLayer(): void {
    const place = this.#place;
    if (place === null || this.#media !== null || this.video.videoWidth === 0 || !isOffered(place)) return;
    const { session, space, scene } = place;
    const [x, y, z] = CENTRE_M;
    const layer = new XRMediaBinding(session).createQuadLayer(this.video, {
      ...{ space, layout: 'stereo-left-right', width: WIDTH_M, height: this.#heightM },
      transform: new XRRigidTransform({ x, y, z }),
    });
    // The last layer is in front.
    session.updateRenderState({ layers: [scene, layer] });
    this.#media = layer;
    this.root.visible = false;
  }

  #leave(): void {
    this.#place = null;
    this.#media?.destroy();
    this.#media = null;
    this.root.visible = this.video.videoWidth > 0;
  }

  /** Of one eye's picture. */
  get #heightM(): number {
    return (WIDTH_M * this.video.videoHeight) / (this.video.videoWidth / 2);
  }

  #build(): void {
    this.root.clear();
    const texture = new VideoTexture(this.video);
    texture.minFilter = LinearFilter;
    texture.generateMipmaps = false;
    for (const [eye, layer] of EYES.entries()) {
      const plane = new PlaneGeometry(WIDTH_M, this.#heightM);
      const uv = plane.getAttribute('uv');
      for (let i = 0; i < uv.count; i++) uv.setX(i, (uv.getX(i) + eye) / 2);
      const mesh = new Mesh(plane, new MeshBasicMaterial({ map: texture, toneMapped: false }));
      mesh.layers.set(layer);
      this.root.add(mesh);
    }
  }
}

/** The scene must be in a layer of its own, and the headset must draw videos. */
const isOffered = ({ scene }: StereoPlace): boolean =>
  typeof XRMediaBinding !== 'undefined' &&
  typeof XRProjectionLayer !== 'undefined' &&
  scene instanceof XRProjectionLayer;
