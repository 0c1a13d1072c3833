import { type Object3D, Vector3 } from 'three';
import type { PictureSource } from '../link/page-link.ts';
import { CameraBoard } from './camera-board.ts';

/** The first camera is large and in front of the wearer; the others are small, below it. */
const LARGE_AT = new Vector3(0.8, 1.38, -0.98);
const LARGE_SCALE = 1.5;
const SMALL_AT = new Vector3(0.5, 0.98, -0.82);
const SMALL_SCALE = 0.6;
const SMALL_STEP_M = 0.4;
const TURN_RAD = -0.45;
/** A pinch this close to a board grabs it. */
const GRAB_M = 0.08;
const HALF_WIDTH_M = 0.28;
const HALF_HEIGHT_M = 0.21;

/** A hand that may grab: its pinch point, and whether it pinches now. */
export interface Grabber {
  at: Vector3;
  pinches: boolean;
}

/** The boards of the robot's cameras. Touching a small one swaps it with the large one; a pinch moves a board. */
export class CameraWall {
  readonly #parent: Object3D;
  readonly #boards: CameraBoard[] = [];
  readonly #names = new Set<string>();
  readonly #at = new Vector3();
  readonly #grabs = new Map<number, { board: CameraBoard; offset: Vector3 }>();
  #touched: CameraBoard | null = null;

  constructor(parent: Object3D) {
    this.#parent = parent;
  }

  open(names: readonly string[], page: string, source: PictureSource | null): void {
    for (const name of names) {
      if (this.#names.has(name)) continue;
      this.#names.add(name);
      const board = new CameraBoard(name, page, source);
      this.#boards.push(board);
      this.#parent.add(board.board.root);
      this.#place(board, this.#boards.length - 1);
    }
  }

  /** Call once per frame while the robot does not follow: a hand that drives never moves a picture. */
  update(tips: readonly Vector3[], grabbers: readonly Grabber[]): void {
    for (const [i, grabber] of grabbers.entries()) this.#grab(i, grabber);
    const touched = this.#boards.find((board) => tips.some((tip) => this.#isOn(board, tip, 0.03))) ?? null;
    if (touched !== null && touched !== this.#touched && this.#grabs.size === 0) this.#enlarge(touched);
    this.#touched = touched;
  }

  #grab(hand: number, { at, pinches }: Grabber): void {
    const held = this.#grabs.get(hand);
    if (!pinches) this.#grabs.delete(hand);
    else if (held) held.board.board.root.position.copy(at).add(held.offset);
    else {
      const board = this.#boards.find((each) => this.#isOn(each, at, GRAB_M));
      if (board) this.#grabs.set(hand, { board, offset: board.board.root.position.clone().sub(at) });
    }
  }

  #isOn({ board: { root } }: CameraBoard, point: Vector3, depthM: number): boolean {
    if (!root.visible) return false;
    const { x, y, z } = root.worldToLocal(this.#at.copy(point));
    return Math.abs(x) < HALF_WIDTH_M && Math.abs(y) < HALF_HEIGHT_M && Math.abs(z * root.scale.x) < depthM;
  }

  #enlarge(board: CameraBoard): void {
    const at = this.#boards.indexOf(board);
    if (at <= 0) return;
    const [large] = this.#boards;
    const roots = [board.board.root, large!.board.root];
    const [position, scale] = [roots[0]!.position.clone(), roots[0]!.scale.clone()];
    roots[0]!.position.copy(roots[1]!.position);
    roots[0]!.scale.copy(roots[1]!.scale);
    roots[1]!.position.copy(position);
    roots[1]!.scale.copy(scale);
    this.#boards[at] = large!;
    this.#boards[0] = board;
  }

  #place({ board: { root } }: CameraBoard, i: number): void {
    root.rotation.y = TURN_RAD;
    root.scale.setScalar(i === 0 ? LARGE_SCALE : SMALL_SCALE);
    if (i === 0) root.position.copy(LARGE_AT);
    else root.position.copy(SMALL_AT).add(this.#at.set((i - 1) * SMALL_STEP_M, 0, (i - 1) * 0.18));
  }
}
