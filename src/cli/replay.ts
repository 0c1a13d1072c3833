import { startLocalRobot } from '../app/local-robot.ts';
import { TeleopError } from '../core/errors.ts';
import { JointDesk } from '../desk/joint-desk.ts';
import { findEpisodes, openSource } from '../record/export/sources.ts';
import { checkModel, type Played, playEpisode } from '../replay/play.ts';
import { loadRig, type Rig } from '../rig/rig.ts';
import { rigModel } from '../rig/robot-models.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { openBrowser } from './open-browser.ts';
import { onEndRequest, parentChannel } from './process.ts';
import { progressLine } from './progress.ts';
import { recordDirOf } from './record-dir.ts';

/** How often progress is reported to a parent process. */
const REPORT_MS = 200;

export const replayVerb: Verb = {
  name: 'replay',
  usage: 'EPISODE [--robot] [--rig NAME|FILE] [key=value …]',
  about: 'Replays a recorded episode on a simulated robot, or with --robot on the running one.',
  details: `EPISODE is an .mcap file or an episode id. The robot moves slowly to the first pose, then follows the recorded
commands. With --robot, the operator on this machine drives, through its link and the robot's supervisor; the robot must
be armed, and the operator must have the input "joints" (operator.inputs.joints={}). Ctrl-C releases the robot.`,
  examples: [
    'farhand replay recordings/episode.mcap',
    'farhand replay recordings/episode.mcap --robot --speed 0.5',
  ],
  options: {
    robot: { type: 'boolean', about: 'use the running robot instead of a simulated one' },
    speed: { type: 'string', value: 'X', about: 'speed factor, 0.1 to 2 (default: 1)' },
    headless: { type: 'boolean', about: 'simulated robot: no page' },
    'no-open': { type: 'boolean', about: 'simulated robot: do not open a browser' },
    rig: RIG_OPTION,
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(replayVerb, given, 1, 1);
    const json = given.values['json'] === true;
    const report = parentChannel();
    const say = (text: string) => {
      if (!json) console.log(text);
      void report({ kind: 'saying', text });
    };
    const [source, second] = await findEpisodes([given.words[0]!], recordDirOf(given));
    if (source === undefined || second !== undefined)
      throw new TeleopError('bad-option', 'replay takes exactly one episode', {
        hint: 'Give one file or one id.',
      });
    const { info, rows } = await openSource(source);
    const { config } = loadRig(String(given.values['rig'] ?? 'demo'), given.overrides);
    const model = rigModel(config);
    checkModel(info, model);
    const speed = numberOption(given, 'speed', 0.1, 2) ?? 1;
    const stop = new AbortController();
    onEndRequest(() => stop.abort());
    const progress = progressLine('playing');
    let reportedMs = 0;
    const play = async (rig: Rig, arm: boolean) => {
      const desk = await JointDesk.open(rig);
      try {
        return await playEpisode(desk, {
          rows,
          model,
          speed,
          arm,
          say,
          onProgress(doneS, totalS) {
            progress.update(doneS, totalS);
            if (performance.now() - reportedMs < REPORT_MS) return;
            reportedMs = performance.now();
            void report({ kind: 'played', doneS, totalS });
          },
          stop: stop.signal,
        });
      } finally {
        progress.done();
        desk.close();
      }
    };
    const played =
      given.values['robot'] === true
        ? await play(config, false)
        : await inSimulation(given, config, say, play);
    if (json) console.log(JSON.stringify({ id: info.id, ...played }));
    else
      say(
        `${info.id}: ${played.rows} rows in ${played.seconds.toFixed(1)} s, largest error ${played.maxErrorRad.toFixed(3)} rad${played.complete ? '' : ', ended early'}`,
      );
    return played.complete ? 0 : 1;
  },
};

async function inSimulation(
  given: Given,
  rig: Rig,
  say: (text: string) => void,
  play: (rig: Rig, arm: boolean) => Promise<Played>,
): Promise<Played> {
  const robot = await startLocalRobot(rig, {
    headless: given.values['headless'] === true || given.values['json'] === true,
    say: () => {},
    onUrl(url) {
      say(`watch at ${url}`);
      if (given.values['no-open'] !== true) openBrowser(url);
    },
  });
  try {
    return await Promise.race([play(robot.rig, true), robot.failed]);
  } finally {
    await robot.close();
  }
}
