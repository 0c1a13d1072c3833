import {
  Color,
  ColorManagement,
  CylinderGeometry,
  GridHelper,
  Group,
  LinearSRGBColorSpace,
  Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  Scene,
  Vector3,
  WebGLRenderer,
} from 'three';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { XrPacket } from '../../src/input/codecs/webxr-codec.ts';
import type { ConsoleArm } from '../../src/messages/console.ts';
import type { Telemetry, WorldTelemetry } from '../../src/messages/telemetry.ts';
import { type Arm, createArm } from '../view/arm.ts';
import { LimitArrow } from '../view/limit-arrow.ts';
import { ghostMaterial, solidMaterial } from '../view/materials.ts';
import { OtherArm, standingAt } from '../view/other-arm.ts';
import { currentPalette, type Palette } from '../view/palette.ts';
import { PoseTrack } from '../view/pose-track.ts';
import type { Quality } from '../view/quality.ts';
import { ReachHint } from '../view/reach-hint.ts';
import { Shapes } from '../view/shapes.ts';
import { Things } from '../view/things.ts';
import { DrawnHands } from './drawn-hands.ts';

ColorManagement.enabled = false;

/** Position of the robot's base relative to the floor under the wearer: on a table, at arm's length. */
const BASE_M = [0, 0.72, -0.75] as const;
const GHOST_OPACITY = 0.55;
/** Width of the page's text, as in vr.css. */
const TEXT_PX = 480;

/** The scene around the wearer: the robot at full size, the command as a ghost, the hands, and the boards. */
export class Room {
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(60, 1, 0.05, 30);
  readonly #palette: Palette = currentPalette();
  readonly #shapes: Shapes;
  readonly #base = new Group();
  readonly #floor: GridHelper;
  readonly #table: Mesh;
  readonly #hands: DrawnHands;
  #model: RobotModel | null = null;
  #arms: readonly ConsoleArm[] = [];
  #other: OtherArm | null = null;
  #isInWorld = false;
  #things: Things | null = null;
  #robot: Arm | null = null;
  #ghost: Arm | null = null;
  #reach: ReachHint | null = null;
  readonly #limit = new LimitArrow(this.#palette);
  readonly #lead = new Vector3();
  #measured = new PoseTrack(0);
  #commanded = new PoseTrack(0);

  constructor(canvas: HTMLCanvasElement, quality: Quality) {
    this.renderer = new WebGLRenderer({ canvas, antialias: quality.antialias, stencil: true, alpha: true });
    this.renderer.setPixelRatio(quality.pixelRatio);
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.renderer.xr.enabled = true;
    this.renderer.xr.setReferenceSpaceType('local-floor');
    this.#shapes = new Shapes(quality.detail);
    this.#floor = new GridHelper(6, 12, this.#palette.gridStrong, this.#palette.gridLine);
    this.#table = new Mesh(
      new CylinderGeometry(0.28, 0.28, 0.02, 32),
      new MeshBasicMaterial({ color: this.#palette.collar }),
    );
    this.#hands = new DrawnHands(this.#palette.hand);
    // Robot +X (forward) is −Z of the wearer.
    this.#base.rotation.y = Math.PI / 2;
    this.#base.position.set(...BASE_M);
    this.#table.position.set(BASE_M[0], BASE_M[1] - 0.01, BASE_M[2]);
    this.scene.add(this.#floor, this.#table, this.#base, this.#hands.root);
    this.camera.position.set(0, 1.5, 0.6);
    this.camera.lookAt(0, 1.2, -0.8);
    this.showAround(true);
    new ResizeObserver(() => this.#resize(canvas)).observe(canvas);
  }

  /** Off in passthrough mode. */
  showAround(shown: boolean): void {
    this.scene.background = shown ? new Color(this.#palette.ground) : null;
    this.#floor.visible = shown;
  }

  /** Of two arms, left before right, `model` is the right one’s. */
  setModel(model: RobotModel, arms: readonly ConsoleArm[] = []): void {
    this.#model = model;
    this.#arms = arms;
    const [left = null, right = null] = arms;
    this.#other = left && new OtherArm(left, this.#palette, this.#shapes, this.#isInWorld);
    this.#base.clear();
    this.#things = this.#isInWorld ? new Things(this.#palette, this.#shapes) : null;
    const ghost = ghostMaterial(this.#palette);
    ghost.setOpacity(GHOST_OPACITY);
    this.#robot = createArm(
      model,
      this.#palette,
      this.#shapes,
      solidMaterial(this.#palette),
      this.#isInWorld,
    );
    this.#ghost = createArm(model, this.#palette, this.#shapes, ghost, this.#isInWorld);
    this.#reach = new ReachHint(model, this.#palette);
    const stand = standingAt(right?.base ?? { xyzM: [0, 0, 0], rpyRad: [0, 0, 0] });
    stand.inside.add(this.#robot.root, this.#ghost.root, this.#reach.root);
    this.#base.add(stand.root, this.#limit.root);
    if (this.#other !== null) this.#base.add(this.#other.root);
    if (this.#things !== null) {
      const axes = new Group();
      axes.rotation.x = -Math.PI / 2;
      this.#base.add(axes.add(this.#things.root));
    }
    this.#measured = new PoseTrack(model.joints.length);
    this.#commanded = new PoseTrack(model.joints.length);
    this.#robot.setJoints(model.homeRad);
    this.#ghost.root.visible = false;
  }

  aim(telemetry: Telemetry, nowMs: number): void {
    const { world = null } = telemetry;
    const [left, right] = telemetry.arms ?? [];
    const { robot, commandedRad } = right ?? telemetry;
    if (left !== undefined) this.#other?.aim(left, nowMs);
    if (this.#model !== null && (world !== null) !== this.#isInWorld) {
      this.#isInWorld = world !== null;
      this.setModel(this.#model, this.#arms);
      this.#showTable();
    }
    if (world !== null) {
      // It is the world of the arm that is driven; each stands at its place here.
      const driven = telemetry.arms?.findIndex(({ isDriven }) => isDriven) ?? -1;
      this.#aimWorld(world, nowMs, this.#arms[driven]?.base.xyzM);
    }
    this.#limit.aim(telemetry);
    if (robot) {
      this.#measured.aim(robot.measuredRad, nowMs);
      this.#robot?.setGripper(robot.gripper);
      this.#ghost?.setGripper(robot.gripper);
    }
    if (commandedRad) this.#commanded.aim(commandedRad, nowMs);
    if (this.#ghost) this.#ghost.root.visible = commandedRad !== null && robot?.state === 'engaged';
  }

  /** In a world, the table's top is where the world has it, and large enough for its things. */
  #showTable(): void {
    this.#table.scale.set(this.#isInWorld ? 2.6 : 1, 1, this.#isInWorld ? 2.6 : 1);
  }

  #aimWorld(world: WorldTelemetry, nowMs: number, armM?: readonly number[]): void {
    this.#base.position.y = BASE_M[1] + world.baseM[2]!;
    this.#things?.aim(world, nowMs, armM);
  }

  draw(packet: XrPacket | null, nowMs: number): void {
    this.#things?.advance(nowMs);
    this.#other?.advance(nowMs);
    if (this.#measured.started) {
      this.#measured.advance(nowMs);
      this.#commanded.advance(nowMs);
      this.#robot?.setJoints(this.#measured.shown);
      this.#ghost?.setJoints(this.#commanded.shown);
      this.#reach?.setJoints(this.#measured.shown);
      this.#base.updateMatrixWorld();
      this.#robot?.lead.getWorldPosition(this.#lead);
      this.#limit.place(this.#base.worldToLocal(this.#lead));
    }
    this.#hands.show(packet);
    this.renderer.render(this.scene, this.camera);
  }

  #resize({ clientWidth, clientHeight }: HTMLCanvasElement): void {
    if (this.renderer.xr.isPresenting || clientWidth === 0 || clientHeight === 0) return;
    this.camera.aspect = clientWidth / clientHeight;
    // On a screen, the robot stands beside the text.
    const asidePx = clientWidth > TEXT_PX * 1.6 ? TEXT_PX / 2 : 0;
    this.camera.setViewOffset(clientWidth, clientHeight, -asidePx, 0, clientWidth, clientHeight);
    this.renderer.setSize(clientWidth, clientHeight, false);
  }
}
