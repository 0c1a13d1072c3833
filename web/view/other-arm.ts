import { Group, type Object3D } from 'three';
import type { ConsoleArm } from '../../src/messages/console.ts';
import type { ArmTelemetry } from '../../src/messages/telemetry.ts';
import { type Arm, createArm } from './arm.ts';
import { solidMaterial } from './materials.ts';
import type { Palette } from './palette.ts';
import { PoseTrack } from './pose-track.ts';
import type { Shapes } from './shapes.ts';

/** A group in scene axes for something that stands at `base` in robot axes. */
export function standingAt({ xyzM, rpyRad }: ConsoleArm['base']): { root: Group; inside: Group } {
  const [root, placed, inside] = [new Group(), new Group(), new Group()];
  root.rotation.x = -Math.PI / 2;
  placed.position.set(...xyzM);
  placed.rotation.set(...rpyRad, 'ZYX');
  inside.rotation.x = Math.PI / 2;
  root.add(placed.add(inside));
  return { root, inside };
}

/** Of two arms, the one that the page does not drive at the moment. */
export class OtherArm {
  readonly root: Group;
  readonly #arm: Arm;
  readonly #measured: PoseTrack;
  readonly #gripper = new PoseTrack(1);

  constructor({ model, base }: ConsoleArm, palette: Palette, shapes: Shapes, isInWorld: boolean) {
    const { root, inside } = standingAt(base);
    this.#arm = createArm(model, palette, shapes, solidMaterial(palette), isInWorld);
    this.#arm.setJoints(model.homeRad);
    this.#measured = new PoseTrack(model.joints.length);
    inside.add(this.#arm.root);
    this.root = root;
  }

  /** Its gripper; null without one. */
  get gripper(): Object3D | null {
    return this.#arm.gripper;
  }

  aim({ robot }: ArmTelemetry, nowMs: number): void {
    if (robot === null || robot.measuredRad.length === 0) return;
    this.#measured.aim(robot.measuredRad, nowMs);
    this.#gripper.aim([robot.gripper], nowMs);
  }

  /** True while it moves. */
  advance(nowMs: number): boolean {
    if (!this.#measured.started) return false;
    const isMoving = this.#measured.advance(nowMs);
    const isGripping = this.#gripper.advance(nowMs);
    this.#arm.setJoints(this.#measured.shown);
    this.#arm.setGripper(this.#gripper.shown[0]!);
    return isMoving || isGripping;
  }
}
