import { ArrowHelper, Vector3 } from 'three';
import type { Palette } from './palette.ts';
import type { SceneState } from './scene-state.ts';

const LENGTH_M = 0.09;

/** An arrow at the guided point into whatever keeps it from following the hand. */
export class LimitArrow {
  readonly root: ArrowHelper;
  readonly #towards = new Vector3();

  constructor(palette: Palette) {
    this.root = new ArrowHelper(new Vector3(0, 1, 0), new Vector3(), LENGTH_M, palette.touching, 0.03, 0.018);
    this.root.visible = false;
  }

  aim({ robot, operator }: SceneState): void {
    const towards = operator.limitTowards;
    this.root.visible = robot?.state === 'engaged' && robot.limitedBy !== '' && Array.isArray(towards);
    if (!this.root.visible) return;
    // Robot axes (z up) to the scene's (y up).
    const [x = 0, y = 0, z = 0] = towards!;
    this.root.setDirection(this.#towards.set(x, z, -y).normalize());
  }

  place(atM: Vector3): void {
    this.root.position.copy(atM);
  }
}
