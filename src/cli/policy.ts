import { DEMO_CAMERAS } from '../app/run-demo.ts';
import { openPolicyFrames } from '../policy/frames.ts';
import { runPolicy } from '../policy/run.ts';
import type { PolicyCounts } from '../policy/runner.ts';
import { policyAddress } from '../policy/transports.ts';
import { loadRig } from '../rig/rig.ts';
import { loadModel } from '../rig/robot-models.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { onEndRequest } from './process.ts';

export const policyVerb: Verb = {
  name: 'policy',
  usage: 'ADDRESS [--rig NAME|FILE] [key=value …]',
  about:
    'Lets a policy drive the running robot: observations go to its process, actions through the supervisor.',
  details: `ADDRESS is http://HOST:PORT/PATH, or tcp://HOST:PORT for ZeroMQ REQ/REP. docs/datasets.md has the JSON.
Needs a running operator on this machine that was started with operator.inputs.joints={}, and an armed robot. Cameras are
those of the rig: give the settings the operator has. A tick with a stale camera is skipped, a late answer is dropped;
both are counted. After a hold that the policy did not cause, start it anew.`,
  options: {
    hz: { type: 'string', value: 'N', about: 'questions per second, 1 to 100 (default: 10)' },
    timeout: { type: 'string', value: 'MS', about: 'answers later than this are dropped (default: 100)' },
    stale: {
      type: 'string',
      value: 'MS',
      about: 'a camera or robot silent for longer, and an older picture, is stale (default: 1000)',
    },
    task: { type: 'string', value: 'TEXT', about: 'what the policy shall do' },
    duration: { type: 'string', value: 'S', about: 'end after S seconds (default: at Ctrl-C)' },
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
      hz: numberOption(given, 'hz', 1, 100) ?? 10,
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
  return `${ticks} ticks, ${asked} asked, ${acted} acted, ${idle} idle; late ${late}, malformed ${malformed}, failed ${failed}, busy ${busy}; skipped: ${missed.join(', ')}`;
}
