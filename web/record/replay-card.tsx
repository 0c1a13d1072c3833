import { useState } from 'preact/hooks';
import type { EpisodeView, ReplayJob, ReplayRequest } from '../../src/messages/console.ts';
import type { DeskRequest } from '../../src/messages/telemetry.ts';
import { duration } from './format.ts';

/** What the guard looks at. */
export interface ReplayRobot {
  robotState: string;
  inputs: readonly string[];
  replay: ReplayJob | null;
}

export type SendReplay = (request: ReplayRequest | DeskRequest) => boolean;

interface Props {
  view: EpisodeView;
  robot: ReplayRobot;
  send: SendReplay;
}

const SPEEDS = [0.25, 0.5, 1];
const POWERED = ['armed', 'engaged', 'hold'];

/** Why the robot cannot replay now; empty: it can. */
function replayProblem({ info }: EpisodeView, { robotState, inputs, replay }: ReplayRobot): string {
  if (!info.complete) return 'The recording is incomplete.';
  if (replay?.state === 'running') return `The robot replays ${replay.episode}.`;
  if (!inputs.includes('joints')) return 'The operator needs the input “joints”: operator.inputs.joints={}.';
  if (!POWERED.includes(robotState)) return `The robot is ${robotState}. Arm it first, on Operate.`;
  return '';
}

/**
 * Replays an episode on the robot. The guard is part of the page, not a modal dialog: that would cover the e-stop, and
 * Escape stops the robot.
 */
export function ReplayCard({ view, robot, send }: Props) {
  const [isAsking, ask] = useState(false);
  const problem = replayProblem(view, robot);
  const { replay } = robot;
  const isRunning = replay?.state === 'running';
  return (
    <section class="replay" aria-label="Replay on the robot" data-testid="replay">
      {!isAsking && !isRunning && (
        <p class="replay-open">
          <button
            type="button"
            class="plain"
            data-testid="replay-ask"
            disabled={problem !== ''}
            onClick={() => ask(true)}
          >
            Replay on the robot…
          </button>
          <span class="small muted">{problem}</span>
        </p>
      )}
      {isAsking && !isRunning && <Guard view={view} problem={problem} send={send} onEnd={() => ask(false)} />}
      {replay && replay.state !== 'idle' && (isRunning || replay.episode === view.info.id) && (
        <Progress job={replay} onStop={() => send({ kind: 'replay', action: 'stop' })} />
      )}
    </section>
  );
}

function Guard({ view, problem, send, onEnd }: Omit<Props, 'robot'> & { problem: string; onEnd(): void }) {
  const [speed, setSpeed] = useState(0.5);
  const [isClear, setClear] = useState(false);
  const world = view.world?.[0]?.world;
  const [resets, setResets] = useState(true);
  const start = () => {
    if (world && resets) send({ kind: 'world', task: world.task, seed: world.seed });
    send({ kind: 'replay', action: 'start', episode: view.info.id, speed });
    onEnd();
  };
  return (
    <fieldset class="replay-guard" data-testid="replay-guard">
      <legend>The robot will move by itself</legend>
      <p>
        First slowly to the first pose, then as recorded, for {duration(view.info.durationS / speed)}. Its
        limits apply. <kbd>Space</kbd>, <kbd>Esc</kbd> and E-STOP stop it at any time.
      </p>
      <label class="field">
        <span>Speed</span>
        <select
          data-testid="replay-speed"
          value={String(speed)}
          onChange={(event) => setSpeed(Number(event.currentTarget.value))}
        >
          {SPEEDS.map((each) => (
            <option key={each} value={String(each)}>
              {100 * each} %
            </option>
          ))}
        </select>
      </label>
      {world && (
        <label>
          <input
            type="checkbox"
            checked={resets}
            onChange={(event) => setResets(event.currentTarget.checked)}
          />{' '}
          put the things back to where they were when it was recorded
        </label>
      )}
      <label>
        <input
          type="checkbox"
          data-testid="replay-clear"
          checked={isClear}
          onChange={(event) => setClear(event.currentTarget.checked)}
        />{' '}
        nobody and nothing is in its way, and I watch it
      </label>
      <div class="replay-actions">
        <button type="button" class="plain" onClick={onEnd}>
          Cancel
        </button>
        <button
          type="button"
          class="plain strong"
          data-testid="replay-start"
          disabled={!isClear || problem !== ''}
          onClick={start}
        >
          Start
        </button>
        <span class="small muted">{problem}</span>
      </div>
    </fieldset>
  );
}

function Progress({ job, onStop }: { job: ReplayJob; onStop(): void }) {
  const isRunning = job.state === 'running';
  const { doneS, totalS } = job;
  return (
    <div class="replay-progress" data-testid="replay-progress" data-state={job.state}>
      {isRunning && (
        <button type="button" class="plain danger" data-testid="replay-stop" onClick={onStop}>
          Stop
        </button>
      )}
      {isRunning && (
        <progress max={1} aria-label="Replay" {...(totalS > 0 && { value: Math.min(1, doneS / totalS) })} />
      )}
      <p class={job.state === 'failed' ? 'small bad' : 'small'} role="status">
        {isRunning ? sentence(job.message) : job.message}
      </p>
    </div>
  );
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}…`;
