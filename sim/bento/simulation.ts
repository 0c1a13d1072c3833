import {
  COUNTS_PER_TURN,
  countsOfRad,
  DEFAULT_LIMITS,
  HAND,
  JOINT_NAMES,
  MAX_SPEEDS,
  SCENES,
} from '../../src/robot/drivers/bento/arm-facts.ts';
import {
  type BrachioplexusRejection,
  decodeBrachioplexus,
  emptyBrachioplexus,
  encodeBrachioplexus,
  PACKET,
} from '../../src/robot/drivers/bento/brachioplexus-codec.ts';
import type { BentoSceneMessage, BentoStatusMessage, Body } from './bento-view.ts';
import { Motors } from './motors.ts';
import { sceneBodies } from './task-objects.ts';
import type { MakeWorld, World } from './world.ts';

const NS_PER_MS = 1e6;
/** After a longer pause of this process the arm does not catch up. */
const MAX_BEHIND_NS = 100 * NS_PER_MS;

export type SimRejection = BrachioplexusRejection | 'unknown-scene' | 'not-for-the-arm';

/** The Virtual Bento's side of the protocol, sans I/O. Times are monotonic. */
export class BentoSimulation {
  readonly refused = new Map<SimRejection, number>();
  readonly camera = Int32Array.from(SCENES[0]!.camera);
  deadManStops = 0;
  /** A scene was loaded. */
  onScene: () => void = () => {};
  readonly #makeWorld: MakeWorld;
  readonly #noPhysics: string | null;
  readonly #deadManNs: number;
  readonly #motors = new Motors();
  readonly #in = emptyBrachioplexus();
  readonly #out = emptyBrachioplexus(PACKET.feedback);
  readonly #limits = Uint16Array.from(DEFAULT_LIMITS);
  #scene = 0;
  #bodies: readonly Body[] = sceneBodies(0);
  #world: World;
  #steppedNs = Number.NaN;
  #controlNs = Number.NaN;

  /** `deadManMs` 0: the arm keeps moving when control packets stop, as the original does. */
  constructor(makeWorld: MakeWorld, noPhysics: string | null, deadManMs: number) {
    this.#makeWorld = makeWorld;
    this.#noPhysics = noPhysics;
    this.#deadManNs = deadManMs * NS_PER_MS;
    this.#world = makeWorld(this.#bodies);
  }

  /** Handles a controller's datagram; returns the length of the reply in `reply`, usually 0. */
  receive(bytes: Uint8Array, length: number, nowNs: number, reply: Uint8Array): number {
    const packet = this.#in;
    const rejection = decodeBrachioplexus(bytes, length, packet);
    if (rejection !== null) return this.#reject(rejection);
    switch (packet.type) {
      case PACKET.scene:
        return this.#load(packet.sceneIndex, packet.frameRate);
      case PACKET.control:
        this.#controlNs = nowNs;
        if (this.#scene > 0) this.#motors.control(packet);
        return 0;
      case PACKET.update:
        if (this.#scene > 0) this.#limit();
        if (this.#scene > 0) this.#aim();
        return 0;
      case PACKET.cameraRequest:
        return this.#replyCamera(reply);
      default:
        return this.#reject('not-for-the-arm');
    }
  }

  /** Advances the arm to this time. */
  advance(nowNs: number): void {
    const stepNs = this.#world.stepS * 1e9;
    if (!(nowNs - this.#steppedNs <= MAX_BEHIND_NS)) this.#steppedNs = nowNs - stepNs;
    if (this.#deadManNs > 0 && this.#motors.moving && nowNs - this.#controlNs > this.#deadManNs) {
      this.#motors.stop();
      this.deadManStops++;
    }
    for (; this.#steppedNs + stepNs <= nowNs; this.#steppedNs += stepNs) {
      this.#motors.step(this.#world.stepS, this.#world.jointsRad);
      this.#world.step(this.#motors.targetRad);
    }
  }

  /** Length of a feedback packet; 0 before a scene is loaded. */
  feedback(out: Uint8Array): number {
    if (this.#scene === 0) return 0;
    this.#readCounts(this.#out.positions);
    this.#out.speeds.set(this.#motors.speeds);
    this.#out.type = PACKET.feedback;
    return encodeBrachioplexus(this.#out, out);
  }

  sceneMessage(): BentoSceneMessage {
    const tasks = SCENES.map(({ task }) => task);
    const [index, noPhysics] = [this.#scene, this.#noPhysics];
    const joints = JOINT_NAMES.map((name, i) => ({ name, maxSpeed: MAX_SPEEDS[i]! }));
    return { kind: 'scene', index, task: tasks[index]!, tasks, noPhysics, bodies: this.#bodies, joints };
  }

  status(nowNs: number): BentoStatusMessage {
    const counts = new Int32Array(JOINT_NAMES.length);
    this.#readCounts(counts);
    const silentMs = (nowNs - this.#controlNs) / NS_PER_MS;
    return {
      kind: 'status',
      counts: [...counts],
      speeds: [...this.#motors.speeds],
      limits: [...this.#limits],
      camera: [...this.camera],
      controllerMs: Number.isNaN(silentMs) ? null : silentMs,
      deadManMs: this.#deadManNs / NS_PER_MS,
      deadManStops: this.deadManStops,
      refused: Object.fromEntries(this.refused),
    };
  }

  /** Current poses of all bodies. */
  poses(): Float32Array {
    this.#world.look();
    return this.#world.poses;
  }

  dispose(): void {
    this.#world.dispose();
  }

  /** Unity mirrors the hand, so its counts round in the other direction. */
  #readCounts(out: Int32Array): void {
    for (let i = 0; i < out.length; i++) {
      const rad = this.#world.jointsRad[i]!;
      out[i] = i === HAND ? COUNTS_PER_TURN - countsOfRad(-rad) : countsOfRad(rad);
    }
  }

  #load(index: number, frameRate: number): number {
    if (index >= SCENES.length) return this.#reject('unknown-scene');
    const bodies = sceneBodies(index);
    const world = this.#makeWorld(bodies);
    this.#world.dispose();
    this.#world = world;
    this.#bodies = bodies;
    this.#scene = index;
    this.#motors.reset();
    this.#motors.frameRate(frameRate);
    this.#limit();
    this.#aim();
    this.onScene();
    return 0;
  }

  #limit(): void {
    this.#limits.set(this.#in.limits);
    this.#motors.limit(this.#limits);
  }

  /** A height of 0 selects the scene's own view. */
  #aim(): void {
    const asked = this.#in.camera;
    const view = asked[1] === 0 ? SCENES[this.#scene]!.camera : asked;
    for (let i = 0; i < 6; i++) this.camera[i] = i < 3 ? view[i]! : ((view[i]! % 360) + 360) % 360;
  }

  #replyCamera(reply: Uint8Array): number {
    if (this.#scene === 0) return 0;
    this.#out.type = PACKET.cameraPosition;
    this.#out.camera.set(this.camera);
    return encodeBrachioplexus(this.#out, reply);
  }

  #reject(reason: SimRejection): number {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1);
    return 0;
  }
}
