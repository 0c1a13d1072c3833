import { useEffect, useRef } from 'preact/hooks';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { EpisodeView } from '../../src/messages/console.ts';
import type { EpisodeRow } from '../../src/messages/recording.ts';
import { chooseQuality } from '../view/quality.ts';
import type { SceneState } from '../view/scene-state.ts';
import { EpisodeStage } from './episode-stage.ts';

interface Props {
  view: EpisodeView;
  row: EpisodeRow | undefined;
  model: RobotModel | null;
}

const quality = chooseQuality(location.search, devicePixelRatio);

/** The arm, its commanded pose and the world of a row, in 3D. */
export function SceneView({ view, row, model }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<EpisodeStage | null>(null);
  const shown = useRef<EpisodeView | null>(null);
  const fits = model !== null && quality !== null && isOf(view, model);
  // One stage per canvas: closing it loses the canvas's context for good.
  useEffect(() => {
    if (!fits || canvas.current === null) return;
    stage.current = new EpisodeStage(canvas.current, model, quality);
    return () => {
      stage.current?.close();
      stage.current = null;
      shown.current = null;
    };
  }, [fits, model?.name]);
  useEffect(() => {
    if (row === undefined || stage.current === null) return;
    stage.current.show(stateOf(view, row), shown.current !== view);
    shown.current = view;
  }, [view, row, fits, model?.name]);
  if (!fits)
    return (
      <p class="small muted">
        {quality === null ? 'No 3D view without WebGL2.' : `No 3D view: recorded with ${view.info.robot}.`}
      </p>
    );
  return (
    <canvas
      key={model.name}
      ref={canvas}
      class="episode-scene"
      data-testid="episode-scene"
      aria-label="3D view of the recorded arm"
    />
  );
}

/** The page knows the geometry of its own robot. */
const isOf = ({ info }: EpisodeView, { joints }: RobotModel): boolean =>
  joints.length === info.joints.length && joints.every(({ name }, i) => name === info.joints[i]);

function stateOf({ world = [] }: EpisodeView, row: EpisodeRow): SceneState {
  let at = 0;
  while (at + 1 < world.length && world[at + 1]!.timeNs <= row.timeNs) at++;
  return {
    robot: {
      ...{ state: row.supervisor, cause: '', epoch: 0, measuredRad: row.stateRad, targetRad: row.commandRad },
      ...{ gripper: row.stateGripper, limitedBy: row.limitedBy, clearanceM: null, nearest: '' },
    },
    hand: null,
    commandedRad: row.commandRad,
    world: world[at]?.world ?? null,
    input: { clutch: row.engaged },
    operator: { limitTowards: null },
  };
}
