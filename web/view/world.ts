import { Color, Group, Line, type Material, Mesh, type Object3D, Scene, Vector3 } from 'three';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { ConsoleArm, ConsoleScene } from '../../src/messages/console.ts';
import type { WorldTelemetry } from '../../src/messages/telemetry.ts';
import { type Arm, createArm } from './arm.ts';
import { CollisionShapes } from './capsules.ts';
import { createFloor } from './floor.ts';
import { HandMarker } from './hand-marker.ts';
import { LimitArrow } from './limit-arrow.ts';
import { type GhostMaterial, ghostMaterial, solidMaterial } from './materials.ts';
import { OtherArm, standingAt } from './other-arm.ts';
import type { Palette } from './palette.ts';
import { PoseTrack } from './pose-track.ts';
import { ReachHint } from './reach-hint.ts';
import type { SceneState } from './scene-state.ts';
import { type Detail, Shapes } from './shapes.ts';
import { Things } from './things.ts';
import { Trail } from './trail.ts';

const GHOST_OPACITY = 0.8;
/** Joint differences at which the ghost appears and is fully visible. */
const GHOST_FROM_RAD = 0.002;
const GHOST_FULL_RAD = 0.012;

/** The robot's base is Z up, the scene Y up. */
function robotAxes(inside: Object3D): Group {
  const group = new Group();
  group.rotation.x = -Math.PI / 2;
  return group.add(inside) as Group;
}

/** Everything in the scene for one model and one colour scheme. */
export class World {
  readonly scene = new Scene();
  /** Tool tip in the home pose. */
  readonly homeTip = new Vector3();
  readonly #robot: Arm;
  readonly #ghost: Arm;
  readonly #ghostMaterial: GhostMaterial;
  readonly #hand: HandMarker;
  readonly #trail: Trail;
  readonly #shapes: CollisionShapes;
  readonly #limit: LimitArrow;
  readonly #reach: ReachHint;
  readonly #things: Things | null;
  readonly #other: OtherArm | null;
  readonly #measured: PoseTrack;
  readonly #commanded: PoseTrack;
  readonly #gripper = new PoseTrack(1);
  readonly #handPose = new PoseTrack(7);
  readonly #tip = new Vector3();
  readonly #lead = new Vector3();
  #engaged = false;
  #hasCommand = false;
  #hasHand = false;
  readonly #followsPose: boolean;
  readonly #baseM: readonly number[];

  constructor(
    model: RobotModel,
    palette: Palette,
    detail: Detail,
    reachM: number,
    around: ConsoleScene | null,
    simulated: WorldTelemetry | null = null,
    /** Two arms: this world is about the driven one, and shows the other beside it. */
    two: { driven: ConsoleArm; other: ConsoleArm } | null = null,
  ) {
    const shapes = new Shapes(detail);
    // A robot hand follows the fingers, not the wrist.
    this.#followsPose = model.family !== 'hand';
    this.scene.background = new Color(palette.ground);
    this.#ghostMaterial = ghostMaterial(palette);
    this.#robot = createArm(model, palette, shapes, solidMaterial(palette), simulated !== null);
    this.#ghost = createArm(model, palette, shapes, this.#ghostMaterial, simulated !== null);
    this.#hand = new HandMarker(palette, shapes, Math.max(1, reachM / 0.457));
    this.#trail = new Trail(palette.trail);
    this.#things = simulated === null ? null : new Things(palette, shapes);
    if (this.#things) this.scene.add(robotAxes(this.#things.root));
    if (this.#robot.gripper) this.#things?.cast(this.#robot.gripper);
    this.#shapes = new CollisionShapes(model, palette, shapes, around);
    this.#limit = new LimitArrow(palette);
    this.#reach = new ReachHint(model, palette);
    this.#measured = new PoseTrack(model.joints.length);
    this.#commanded = new PoseTrack(model.joints.length);
    const place = two?.driven.base ?? { xyzM: [0, 0, 0], rpyRad: [0, 0, 0] };
    this.#baseM = place.xyzM;
    const base = standingAt(place);
    base.inside.add(this.#robot.root, this.#ghost.root, this.#shapes.root, this.#reach.root);
    this.#other = two === null ? null : new OtherArm(two.other, palette, shapes, simulated !== null);
    if (this.#other) this.scene.add(this.#other.root);
    if (this.#other?.gripper) this.#things?.cast(this.#other.gripper);
    this.#robot.setJoints(model.homeRad);
    base.root.updateMatrixWorld(true);
    this.#robot.tip.getWorldPosition(this.homeTip);
    this.#ghost.root.visible = false;
    this.scene.add(
      createFloor(palette, simulated === null ? (around?.groundZM ?? 0) : -simulated.baseM[2]!),
      base.root,
      this.#hand.root,
      this.#trail.mesh,
      this.#limit.root,
    );
  }

  aim(telemetry: SceneState, nowMs: number): void {
    const { robot, hand, commandedRad } = telemetry;
    if (robot) {
      this.#measured.aim(robot.measuredRad, nowMs);
      this.#gripper.aim([robot.gripper], nowMs);
    }
    if (commandedRad) this.#commanded.aim(commandedRad, nowMs);
    if (hand) this.#handPose.aim([...hand.positionM, ...hand.quatXyzw], nowMs);
    const other = telemetry.arms?.find(({ isDriven }) => !isDriven);
    if (other) this.#other?.aim(other, nowMs);
    if (telemetry.world) this.#things?.aim(telemetry.world, nowMs, this.#baseM);
    if (robot) this.#shapes.mark(robot);
    this.#limit.aim(telemetry);
    if (this.#followsPose) this.#hand.setPoints(hand?.pointsM ?? null);
    this.#hasCommand = commandedRad !== null;
    this.#hasHand = hand !== null && this.#followsPose;
    this.#engaged = robot?.state === 'engaged' && telemetry.input.clutch;
  }

  /** Position of the drawn hand; null while hidden. */
  get handPlace(): Vector3 | null {
    return this.#hand.place;
  }

  /** The tool tip of the measured arm; its z axis points out of the tool. */
  get tool(): Object3D {
    return this.#robot.tip;
  }

  showShapes(shown: boolean): void {
    this.#shapes.root.visible = shown;
  }

  /** True while something moves or fades. */
  advance(nowMs: number, camera: Vector3): boolean {
    if (!this.#measured.started) return false;
    let moving = this.#measured.advance(nowMs);
    moving = this.#commanded.advance(nowMs) || moving;
    moving = this.#gripper.advance(nowMs) || moving;
    moving = this.#handPose.advance(nowMs) || moving;
    moving = this.#things?.advance(nowMs) || moving;
    moving = this.#other?.advance(nowMs) || moving;
    this.#robot.setJoints(this.#measured.shown);
    this.#robot.setGripper(this.#gripper.shown[0]!);
    this.#reach.setJoints(this.#measured.shown);
    if (this.#shapes.root.visible) this.#shapes.setJoints(this.#measured.shown);
    this.#showGhost();
    this.#robot.root.updateMatrixWorld();
    this.#things?.castShadows();
    this.#robot.tip.getWorldPosition(this.#tip);
    this.#robot.lead.getWorldPosition(this.#lead);
    this.#limit.place(this.#lead);
    moving = this.#trail.update(this.#tip, camera, nowMs) || moving;
    return this.#showHand() || moving;
  }

  dispose(): void {
    this.scene.traverse((node) => {
      if (!(node instanceof Mesh || node instanceof Line)) return;
      node.geometry.dispose();
      const materials: Material[] = [node.material].flat();
      for (const material of materials) material.dispose();
    });
  }

  #showGhost(): void {
    let differenceRad = 0;
    this.#commanded.shown.forEach((angle, i) => {
      differenceRad = Math.max(differenceRad, Math.abs(angle - this.#measured.shown[i]!));
    });
    const part = Math.min(1, (differenceRad - GHOST_FROM_RAD) / (GHOST_FULL_RAD - GHOST_FROM_RAD));
    this.#ghost.root.visible = this.#hasCommand && part > 0;
    if (!this.#ghost.root.visible) return;
    this.#ghost.setJoints(this.#commanded.shown);
    this.#ghost.setGripper(this.#gripper.shown[0]!);
    this.#ghostMaterial.setOpacity(GHOST_OPACITY * part);
  }

  #showHand(): boolean {
    if (!this.#hasHand) {
      this.#hand.hide();
      return false;
    }
    const pose = this.#handPose.shown;
    return this.#hand.update(pose.subarray(0, 3), pose.subarray(3), this.#engaged, this.#lead);
  }
}
