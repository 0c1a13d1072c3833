import type { ComponentProps } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { EpisodeView } from '../../src/messages/console.ts';
import type {
  EpisodeFigures,
  EpisodeInfo,
  EpisodeQuality,
  RecordRequest,
} from '../../src/messages/recording.ts';
import type { Watching } from '../link/control-chip.ts';
import { milliseconds } from '../panels/labels.ts';
import { CurvePlot } from './curve-plot.tsx';
import { curveSets } from './curves.ts';
import { type Cut, CutRow, useCut } from './cut-row.tsx';
import { duration, size, verdict, when } from './format.ts';
import { FrameView } from './frame-view.tsx';
import { ReplayCard, type ReplayRobot, type SendReplay } from './replay-card.tsx';
import { SceneView } from './scene-view.tsx';
import { TimeLine } from './time-line.tsx';

interface Props {
  view: EpisodeView;
  /** Shown beside it, at the same time since its start. */
  other: EpisodeView | null;
  model: RobotModel | null;
  /** What it can be compared with. */
  episodes: readonly EpisodeInfo[];
  onCompare(id: string): void;
  send(request: RecordRequest): void;
  robot: ReplayRobot;
  sendReplay: SendReplay;
  watching: Watching | null;
  onTrim(cut: Cut): void;
  onDelete(): void;
}

const LABELS = ['success', 'failure', 'keep', 'drop'];

/** Plays an episode: cameras, joints and the state of each row. */
export function Playback(props: Props) {
  const { view, other, model, episodes, onCompare, send, robot, sendReplay } = props;
  const { info, rows } = view;
  const [at, setAt] = useState(0);
  const [cut, setCut] = useCut(view);
  const [playing, setPlaying] = useState(false);
  const last = Math.max(0, rows.length - 1);
  usePlaying(playing, view, at, setAt, () => setPlaying(false));
  const row = rows[Math.min(at, last)];
  const { replay } = robot;
  const replayedS = replay?.state === 'running' && replay.episode === info.id ? replay.doneS : 0;
  useEffect(() => {
    if (replayedS > 0) setAt(indexAt(view, replayedS * 1e9));
  }, [replayedS]);
  return (
    <section id="playback" class="card playback" aria-labelledby="playback-title" data-testid="playback">
      <header class="card-head">
        <h3 id="playback-title">{info.task || info.id}</h3>
        <span class="muted">
          {when(info.startedAt)} · {info.robot}
        </span>
      </header>
      <Compare info={info} other={other} episodes={episodes} onCompare={onCompare} />
      <div class="side-by-side">
        <Scene view={view} row={row} model={model} isNamed={other !== null} />
        {other && (
          <Scene
            key={other.info.id}
            view={other}
            row={rowAt(other, row?.timeNs ?? 0)}
            model={model}
            isNamed
          />
        )}
      </div>
      <div class="scrub">
        <button
          type="button"
          class="plain"
          data-testid="play"
          aria-pressed={playing}
          onClick={() => {
            if (at >= last) setAt(0);
            if (!playing) document.dispatchEvent(new Event('episodeplay'));
            setPlaying(!playing);
          }}
        >
          {playing ? 'Pause' : 'Play'}
        </button>
        <input
          type="range"
          data-testid="scrub"
          aria-label="Position in the episode"
          min={0}
          max={last}
          value={at}
          onInput={(event) => setAt(Number(event.currentTarget.value))}
        />
        <output data-testid="scrub-time">
          {((row?.timeNs ?? 0) / 1e9).toFixed(2)} / {info.durationS.toFixed(2)} s
        </output>
      </div>
      <TimeLine view={view} at={at} cut={cut} onPick={setAt} />
      {info.cameras.length > 0 && row && (
        <div class="frames">
          {info.cameras.map((camera) => (
            <FrameView
              key={camera}
              episode={info.id}
              camera={camera}
              row={row.index}
              frame={row.frames[camera]}
            />
          ))}
        </div>
      )}
      <CutRow
        view={view}
        atS={(row?.timeNs ?? 0) / 1e9}
        cut={cut}
        setCut={setCut}
        isDisabled={props.watching?.isViewer ?? false}
        onTrim={props.onTrim}
        onDelete={props.onDelete}
      />
      {curveSets(view).map((set) => (
        <CurvePlot key={set.title} view={view} set={set} at={at} onPick={setAt} />
      ))}
      {row && (
        <p class="small row-facts" data-testid="row-facts">
          <span>row {row.index}</span>
          <span>{row.supervisor}</span>
          <span>{row.limitedBy ? `limited by ${row.limitedBy}` : 'not limited'}</span>
          <span>one-way {milliseconds(row.oneWayNs === null ? null : row.oneWayNs / 1e6)} ms</span>
          <span>
            playout {milliseconds(row.playoutDelayNs === null ? null : row.playoutDelayNs / 1e6)} ms
          </span>
        </p>
      )}
      <div inert={props.watching !== null}>
        <ReplayCard view={view} robot={robot} send={sendReplay} />
      </div>
      <Quality view={view} />
      <div class="label-row" inert={props.watching !== null}>
        <span class="muted">Label</span>
        {LABELS.map((label) => (
          <button
            type="button"
            key={label}
            class="plain"
            aria-pressed={info.label === label}
            onClick={() => send({ kind: 'record', action: 'label', episode: info.id, label })}
          >
            {label}
          </button>
        ))}
      </div>
    </section>
  );
}

/** Of two beside each other, each has its name. */
function Scene({ isNamed, ...props }: ComponentProps<typeof SceneView> & { isNamed: boolean }) {
  const { id, label } = props.view.info;
  return (
    <figure class="scene-figure">
      <SceneView {...props} />
      {isNamed && <figcaption class="small muted">{[id, label].filter(Boolean).join(' · ')}</figcaption>}
    </figure>
  );
}

/** The newest row at that time; the last one after the end. */
function indexAt({ rows }: EpisodeView, timeNs: number): number {
  let at = 0;
  while (at + 1 < rows.length && rows[at + 1]!.timeNs <= timeNs) at++;
  return at;
}

const rowAt = (view: EpisodeView, timeNs: number): EpisodeView['rows'][number] | undefined =>
  view.rows[indexAt(view, timeNs)];

function Compare({
  info,
  other,
  episodes,
  onCompare,
}: Pick<Props, 'other' | 'episodes' | 'onCompare'> & { info: EpisodeInfo }) {
  return (
    <div class="compare">
      <label class="field">
        <span>Compare with</span>
        <select
          data-testid="compare"
          value={other?.info.id ?? ''}
          onChange={(event) => onCompare(event.currentTarget.value)}
        >
          <option value="">nothing</option>
          {episodes
            .filter(({ id, complete }) => complete && id !== info.id)
            .map(({ id, task, label, durationS }) => (
              <option key={id} value={id}>
                {[id, task, label ?? '', duration(durationS)].filter(Boolean).join(' · ')}
              </option>
            ))}
        </select>
      </label>
    </div>
  );
}

function usePlaying(
  playing: boolean,
  { rows }: EpisodeView,
  at: number,
  setAt: (at: number) => void,
  onEnd: () => void,
): void {
  const now = useRef(at);
  now.current = at;
  useEffect(() => {
    if (!playing) return;
    const startMs = performance.now();
    const fromNs = rows[now.current]?.timeNs ?? 0;
    const timer = setInterval(() => {
      const untilNs = fromNs + (performance.now() - startMs) * 1e6;
      let next = now.current;
      while (next < rows.length - 1 && rows[next + 1]!.timeNs <= untilNs) next++;
      if (next !== now.current) setAt(next);
      if (next >= rows.length - 1) onEnd();
    }, 33);
    return () => clearInterval(timer);
  }, [playing, rows]);
}

const NUMBERS: [keyof EpisodeQuality, string, (value: number) => string][] = [
  ['skippedShare', 'rows skipped', (value) => `${(100 * value).toFixed(1)} %`],
  ['staleShare', 'stale frames', (value) => `${(100 * value).toFixed(1)} %`],
  ['jerkP95RadS3', 'jerk p95', (value) => `${Math.round(value)} rad/s³`],
  ['frameAgeP95Ms', 'frame age p95', (value) => `${milliseconds(value)} ms`],
  ['oneWayP95Ms', 'one-way p95', (value) => `${milliseconds(value)} ms`],
  ['badWindows', 'bad seconds', String],
];

const FIGURES: [keyof EpisodeFigures, string, (value: number) => string][] = [
  ['peakVelocityRadS', 'peak velocity', (value) => `${value.toFixed(2)} rad/s`],
  ['stillShare', 'standing still', (value) => `${(100 * value).toFixed(0)} %`],
  ['offsetRad', 'leader–follower offset', (value) => `${value.toFixed(3)} rad`],
  ['interventions', 'taken over', String],
];

function Quality({ view: { info } }: { view: EpisodeView }) {
  const { tone, text } = verdict(info);
  const { quality } = info;
  return (
    <dl class="quality" data-testid="quality">
      <div class="wide">
        <dt>quality gate</dt>
        <dd class={tone}>{text}</dd>
      </div>
      <div>
        <dt>length</dt>
        <dd>{duration(info.durationS)}</dd>
      </div>
      <div>
        <dt>rows</dt>
        <dd>
          {info.rows.toLocaleString('en')} at {info.rateHz} Hz
        </dd>
      </div>
      <div>
        <dt>size</dt>
        <dd>{size(info.sizeBytes)}</dd>
      </div>
      {quality?.figures &&
        FIGURES.map(([key, name, format]) => (
          <div key={key}>
            <dt>{name}</dt>
            <dd>{typeof quality.figures![key] === 'number' ? format(quality.figures![key]) : '—'}</dd>
          </div>
        ))}
      {quality &&
        NUMBERS.map(([key, name, format]) => (
          <div key={key}>
            <dt>{name}</dt>
            <dd>{typeof quality[key] === 'number' ? format(quality[key]) : '—'}</dd>
          </div>
        ))}
    </dl>
  );
}
