import { demoCameras } from '../app/run-demo.ts';
import { checkFit } from '../policy/fit.ts';
import { openPolicyFrames } from '../policy/frames.ts';
import { openPolicy, policyAddress } from '../policy/open-policy.ts';
import type { PolicyCounts } from '../policy/player.ts';
import { policyFps, REQUEST_ROWS } from '../policy/rate.ts';
import { runPolicy } from '../policy/run.ts';
import { datasetFps } from '../record/lerobot/dataset-fps.ts';
import { loadRig } from '../rig/rig.ts';
import { rigModel } from '../rig/robot-models.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { onEndRequest } from './process.ts';

export const policyVerb: Verb = {
  name: 'policy',
  usage: 'POLICY [--rig NAME|FILE] [key=value …]',
  about:
    'Lets a policy drive the running robot: sends it observations, passes its actions through the supervisor.',
  details: `POLICY is an ONNX file, lerobot:CHECKPOINT (a LeRobot policy), or a server: ws://HOST:PORT as openpi's,
http://HOST:PORT/PATH, or tcp://HOST:PORT for ZeroMQ REQ/REP; docs/policies.md describes each. Needs an armed robot and an
operator on this machine, started with operator.inputs.joints={}. Cameras are those of the rig: give the same settings as for
the operator. Row 0 of a reply is for the instant of its observation: rows that are past when it arrives are not used. A tick
with a stale camera makes no request. A person who closes a clutch takes over at once; \`farhand ask hand-back\` or a button
hands back. After another hold, restart it.`,
  examples: [
    'farhand policy model.onnx --rig world',
    'farhand policy ws://127.0.0.1:8000 --task "stack the cubes" --hz 20',
    'farhand policy lerobot:checkpoint --shadow',
  ],
  options: {
    hz: {
      type: 'string',
      value: 'N',
      about: 'rows per second, 1 to 100 (default: what the policy or --dataset declares, else 10)',
    },
    dataset: { type: 'string', value: 'DIR', about: 'the LeRobot dataset that the policy was trained on' },
    every: { type: 'string', value: 'ROWS', about: `rows between requests (default: ${REQUEST_ROWS})` },
    timeout: { type: 'string', value: 'MS', about: 'a request without a reply is given up (default: 5000)' },
    stale: {
      type: 'string',
      value: 'MS',
      about: 'a silent camera or robot, or a picture, is stale after this long (default: 1000)',
    },
    task: { type: 'string', value: 'TEXT', about: 'task for the policy' },
    shadow: {
      type: 'boolean',
      about: 'never drives: runs along while a person does, and reports how far they differ',
    },
    duration: { type: 'string', value: 'S', about: 'end after S seconds (default: on Ctrl-C)' },
    cameras: { type: 'boolean', about: 'the two cameras of `farhand demo --cameras`' },
    rig: RIG_OPTION,
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(policyVerb, given, 1, 1);
    const rig = String(given.values['rig'] ?? 'demo');
    const added = given.values['cameras'] === true ? demoCameras(rig, given.overrides) : [];
    const { config } = loadRig(rig, [...added, ...given.overrides]);
    const json = given.values['json'] === true;
    const { name, joints } = rigModel(config);
    const settings = {
      task: String(given.values['task'] ?? ''),
      everyRows: numberOption(given, 'every', 1, 100) ?? REQUEST_ROWS,
      timeoutMs: numberOption(given, 'timeout', 1, 60_000) ?? 5000,
      staleAfterMs: numberOption(given, 'stale', 20, 60_000) ?? 1000,
      isShadow: given.values['shadow'] === true,
      durationS: numberOption(given, 'duration', 1, 86_400),
    };
    const address = policyAddress(given.words[0]!);
    const hz = requestRate(given);
    const stop = new AbortController();
    onEndRequest(() => stop.abort());
    const policy = await openPolicy(address);
    const { cameras, frames, close } = await openPolicyFrames(config);
    let trouble = '';
    try {
      const warn = (text: string) => console.error(`farhand: ${text}`);
      checkFit(policy.facts, { name, joints: joints.map((joint) => joint.name), cameras }, warn);
      const fps = policyFps(policy.facts, hz, warn);
      const counts = await runPolicy({
        rig: config,
        ...settings,
        policy,
        fps,
        cameras,
        frames,
        stop: stop.signal,
        onCounts: (counts, why) => {
          trouble = why;
          if (!json && process.stderr.isTTY === true) process.stderr.write(`\r\x1b[K${countsText(counts)}`);
        },
      });
      if (process.stderr.isTTY && !json) process.stderr.write('\r\x1b[K');
      if (trouble !== '') console.error(`farhand: the last failure: ${trouble}`);
      console.log(json ? JSON.stringify(counts) : countsText(counts));
      return 0;
    } finally {
      close();
      policy.close();
    }
  },
};

/** The dataset's rate unless another is given, which is warned about; null: neither is. */
function requestRate(given: Given): number | null {
  const hz = numberOption(given, 'hz', 1, 100);
  const { dataset } = given.values;
  if (typeof dataset !== 'string') return hz;
  const fps = datasetFps(dataset);
  if (hz !== null && hz !== fps)
    console.error(
      `farhand: --hz ${hz} differs from the ${fps} rows per second of ${dataset}: the robot will move ${(hz / fps).toFixed(2)} times as fast as in the demonstrations`,
    );
  return hz ?? fps;
}

function countsText({
  asked,
  answered,
  idle,
  late,
  malformed,
  failed,
  stalls,
  skipped,
}: PolicyCounts): string {
  const missed = Object.entries(skipped).map(([why, count]) => `${why} ${count}`);
  return `${asked} requests, ${answered} answered, ${idle} idle; late ${late}, malformed ${malformed}, failed ${failed}, stalls ${stalls}; skipped: ${missed.join(', ')}`;
}
