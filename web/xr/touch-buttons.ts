import { Group, Vector3 } from 'three';
import { Board } from './board.ts';

const SIZE_M = 0.11;
const GAP_M = 0.03;
/** A fingertip this close to a button touches it. */
const TOUCH_M = 0.025;

export interface TouchButton {
  label(): string;
  colour: string;
  /** Works also while the robot is engaged. */
  always: boolean;
  press(): void;
  /** Default: always. */
  shown?(): boolean;
  /** Counted downwards; default: the first. */
  row?: number;
}

/** Buttons in the scene, pressed with a fingertip or a controller. One press per touch. */
export class TouchButtons {
  readonly root = new Group();
  readonly #buttons: { button: TouchButton; board: Board; label: string; touched: boolean }[];
  readonly #at = new Vector3();

  constructor(buttons: readonly TouchButton[]) {
    this.#buttons = buttons.map((button) => {
      const board = new Board(SIZE_M, SIZE_M, 1400);
      this.root.add(board.root);
      return { button, board, label: '', touched: true };
    });
  }

  /** `tips`: in scene coordinates. `following`: only buttons with `always` work. */
  update(tips: readonly Vector3[], following: boolean): void {
    const inRow: number[] = [];
    for (const entry of this.#buttons) {
      entry.board.root.visible = entry.button.shown?.() ?? true;
      if (!entry.board.root.visible) {
        // One that appears under a fingertip is not pressed by it.
        entry.touched = true;
        continue;
      }
      const { row = 0 } = entry.button;
      const column = inRow[row] ?? 0;
      inRow[row] = column + 1;
      entry.board.root.position.set(column * (SIZE_M + GAP_M), -row * (SIZE_M + GAP_M), 0);
      this.#draw(entry);
      const touched = tips.some((tip) => {
        this.#at.copy(tip);
        entry.board.root.worldToLocal(this.#at);
        const { x, y, z } = this.#at;
        return Math.max(Math.abs(x), Math.abs(y)) < SIZE_M / 2 && Math.abs(z) < TOUCH_M;
      });
      if (touched && !entry.touched && (entry.button.always || !following)) entry.button.press();
      entry.touched = touched;
    }
  }

  #draw(entry: { button: TouchButton; board: Board; label: string }): void {
    const label = entry.button.label();
    if (label === entry.label) return;
    entry.label = label;
    const { context, width, height } = entry.board;
    context.fillStyle = entry.button.colour;
    context.fillRect(0, 0, width, height);
    context.fillStyle = '#fff';
    context.font = 'bold 36px system-ui, sans-serif';
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.fillText(label, width / 2, height / 2, width - 12);
    entry.board.show();
  }
}
