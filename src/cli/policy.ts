import { DEMO_CAMERAS } from '../app/run-demo.ts';
import { openPolicyFrames } from '../policy/frames.ts';
import { runPolicy } from '../policy/run.ts';
import type { PolicyCounts } from '../policy/runner.ts';
import { policyAddress } from '../policy/transports.ts';
import { datasetFps } from '../record/lerobot/dataset-fps.ts';
import { loadRig } from '../rig/rig.ts';
import { loadModel } from '../rig/robot-models.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { onEndRequest } from './process.ts';

export const policyVerb: Verb = {
  name: 'policy',
  usage: 'ADDRESS [--rig NAME|FILE] [key=value …]',
  about:
    'Lets a policy drive the running robot: sends it observations, passes its actions through the supervisor.',
  details: `ADDRESS is http://HOST:PORT/PATH, or tcp://HOST:PORT for ZeroMQ REQ/REP. docs/datasets.md has the JSON.
Needs an armed robot and an operator on this machine, started with operator.inputs.joints={}. Cameras are those of the
rig: give the same settings as for the operator. A tick with a stale camera is skipped, and a late reply is dropped; both
are counted. After a hold that the policy did not cause, restart it.`,
  options: {
    hz: {
      type: 'string',
      value: 'N',
      about: 'requests per second, 1 to 100 (default: the rate of --dataset, else 10)',
    },
    dataset: { type: 'string', value: 'DIR', about: 'the LeRobot dataset that the policy was trained on' },
    timeout: { type: 'string', value: 'MS', about: 'replies later than this are dropped (default: 100)' },
    stale: {
      type: 'string',
      value: 'MS',
      about: 'a silent camera or robot, or a picture, is stale after this long (default: 1000)',
    },
    task: { type: 'string', value: 'TEXT', about: 'task for the policy' },
    duration: { type: 'string', value: 'S', about: 'end after S seconds (default: on Ctrl-C)' },
    cameras: { type: 'boolean', about: 'the two cameras of `farhand demo --cameras`' },
    rig: RIG_OPTION,
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(policyVerb, given, 1, 1);
    const overrides = [...(given.values['cameras'] === true ? DEMO_CAMERAS : []), ...given.overrides];
    const { config } = loadRig(String(given.values['rig'] ?? 'demo'), overrides);
    const json = given.values['json'] === true;
    loadModel(config.model);
    const settings = {
      address: policyAddress(given.words[0]!),
      task: String(given.values['task'] ?? ''),
      hz: requestRate(given),
      timeoutMs: numberOption(given, 'timeout', 1, 10_000) ?? 100,
      staleAfterMs: numberOption(given, 'stale', 20, 60_000) ?? 1000,
      durationS: numberOption(given, 'duration', 1, 86_400),
    };
    const stop = new AbortController();
    onEndRequest(() => stop.abort());
    const { cameras, frames, close } = await openPolicyFrames(config);
    try {
      const counts = await runPolicy({
        rig: config,
        ...settings,
        cameras,
        frames,
        stop: stop.signal,
        onCounts: (counts) =>
          json || process.stderr.isTTY !== true || process.stderr.write(`\r\x1b[K${countsText(counts)}`),
      });
      if (process.stderr.isTTY && !json) process.stderr.write('\r\x1b[K');
      console.log(json ? JSON.stringify(counts) : countsText(counts));
      return 0;
    } finally {
      close();
    }
  },
};

/** The dataset's rate unless another is given, which is warned about. */
function requestRate(given: Given): number {
  const hz = numberOption(given, 'hz', 1, 100);
  const { dataset } = given.values;
  if (typeof dataset !== 'string') return hz ?? 10;
  const fps = datasetFps(dataset);
  if (hz !== null && hz !== fps)
    console.error(
      `farhand: --hz ${hz} differs from the ${fps} rows per second of ${dataset}: the robot will move ${(hz / fps).toFixed(2)} times as fast as in the demonstrations`,
    );
  return hz ?? fps;
}

function countsText({
  ticks,
  asked,
  acted,
  idle,
  late,
  malformed,
  failed,
  busy,
  skipped,
}: PolicyCounts): string {
  const missed = Object.entries(skipped).map(([why, count]) => `${why} ${count}`);
  return `${ticks} ticks, ${asked} requests, ${acted} acted, ${idle} idle; late ${late}, malformed ${malformed}, failed ${failed}, busy ${busy}; skipped: ${missed.join(', ')}`;
}
