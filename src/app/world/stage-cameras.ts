import { DEFAULT_FAR_M, encodeDepth } from '../../camera/depth.ts';
import type { JpegCoder } from '../../camera/encoder.ts';
import { WorldView, worldShadows } from '../../camera/render/world-view.ts';
import type { RgbPicture } from '../../camera/source.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import type { ReceivedFrame } from '../../messages/recording.ts';
import { WORLD_STATE, type WorldState } from '../../messages/world-state.ts';
import type { Rig } from '../../rig/rig.ts';
import type { Driver, JointReading } from '../../robot/driver.ts';
import { emptyReading } from '../../robot/driver.ts';
import type { LocalLink } from '../../wire/emulator/local-link.ts';

/** From the sensor to the encoded picture. */
const ENCODING_NS = 5e6;
/** More than a second at 30 Hz. */
const KEPT = 40;

/** Pictures for a small policy need no finer shadows than this. */
const SMALL_PX = 160;
const SMALL_SHADOWS_PX = 192;

interface Shot {
  captureNs: number;
  arrivedNs: number;
  task: string;
  jointsRad: Float64Array;
  world: WorldState;
  frames: Map<string, ReceivedFrame>;
}

interface Eye {
  view: WorldView;
  quality: number;
  size: { widthPx: number; heightPx: number };
  /** Of a camera that sees distances. */
  farMm: number | null;
}

/**
 * The rig's cameras of source `world` on a simulated clock. Each picture is of its own instant and arrives after the link;
 * it is drawn and encoded only when somebody looks at it.
 */
export class StageCameras {
  readonly names: readonly string[];
  readonly #eyes = new Map<string, Eye>();
  readonly #periodNs: number;
  readonly #driver: Driver;
  readonly #link: LocalLink;
  readonly #coder: JpegCoder;
  readonly #reading: JointReading;
  readonly #shots: Shot[] = [];
  /** Whose shadows are drawn. */
  #shaded: Shot | null = null;
  nextNs = 0;

  constructor(rig: Rig, model: RobotModel, driver: Driver, link: LocalLink, coder: JpegCoder) {
    const cameras = Object.entries(rig.cameras.list).filter(([, { source }]) => source === 'world');
    this.names = cameras.map(([name]) => name);
    const isSmall = cameras.every(([, { widthPx }]) => widthPx <= SMALL_PX);
    const shadows = worldShadows(isSmall ? SMALL_SHADOWS_PX : undefined);
    for (const [name, { widthPx, heightPx, quality, options }] of cameras) {
      const mount = options['mount'] === 'wrist' ? 'wrist' : 'front';
      const view = new WorldView(model, { widthPx, heightPx, mount, shadows });
      const farMm = options['depth'] === true ? 1000 * Number(options['farM'] ?? DEFAULT_FAR_M) : null;
      this.#eyes.set(name, { view, quality, size: { widthPx, heightPx }, farMm });
    }
    this.#periodNs = 1e9 / Math.min(...cameras.map(([, { fpsHz }]) => fpsHz), 120);
    this.#driver = driver;
    this.#link = link;
    this.#coder = coder;
    this.#reading = emptyReading(model.joints.length);
  }

  tick(nowNs: number): void {
    if (this.names.length === 0) this.nextNs = Number.POSITIVE_INFINITY;
    if (nowNs < this.nextNs) return;
    this.nextNs += this.#periodNs;
    this.#driver.read(nowNs, this.#reading);
    const world = WORLD_STATE.create();
    const task = this.#driver.world?.read(world) ?? '';
    const arrivedNs = nowNs + ENCODING_NS + this.#link.downS * 1e9;
    const jointsRad = this.#reading.positionsRad.slice();
    this.#shots.push({ captureNs: nowNs, arrivedNs, task, jointsRad, world, frames: new Map() });
    if (this.#shots.length > KEPT) this.#shots.shift();
  }

  /** The newest picture that had arrived by then; null if none. */
  newestAt(camera: string, instantNs: number): ReceivedFrame | null {
    const shot = this.#shots.findLast(({ arrivedNs }) => arrivedNs <= instantNs);
    const eye = this.#eyes.get(camera);
    if (shot === undefined || eye === undefined) return null;
    const kept = shot.frames.get(camera);
    if (kept !== undefined) return kept;
    const hasShadows = this.#shaded === shot;
    this.#shaded = shot;
    const picture = eye.view.draw(shot.jointsRad, shot.world, shot.task, hasShadows);
    const { captureNs, arrivedNs } = shot;
    const frame: ReceivedFrame = {
      ...{ camera, captureNs, encoding: 'jpeg', arrivedNs, ...this.#encoded(eye, picture) },
      ...{ captureOperatorNs: captureNs, uncertaintyNs: 0 },
    };
    shot.frames.set(camera, frame);
    return frame;
  }

  #encoded(
    { view, quality, size, farMm }: Eye,
    picture: RgbPicture,
  ): { bytes: Uint8Array; depth?: Uint8Array } {
    if (farMm === null) return { bytes: this.#coder.encode(picture, quality) };
    const depthMm = new Uint16Array(size.widthPx * size.heightPx);
    view.depth(depthMm);
    const { jpeg, png } = encodeDepth({ kind: 'depth', depthMm, ...size, farMm }, this.#coder, quality);
    return { bytes: jpeg, depth: png };
  }
}
