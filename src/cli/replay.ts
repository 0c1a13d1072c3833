import { startLocalRobot } from '../app/local-robot.ts';
import { TeleopError } from '../core/errors.ts';
import { JointDesk } from '../desk/joint-desk.ts';
import { findEpisodes, openSource } from '../record/export/sources.ts';
import { checkModel, type Played, playEpisode } from '../replay/play.ts';
import { loadRig, type Rig } from '../rig/rig.ts';
import { loadModel } from '../rig/robot-models.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { openBrowser } from './open-browser.ts';
import { onEndRequest } from './process.ts';
import { progressLine } from './progress.ts';
import { recordDirOf } from './record-dir.ts';

export const replayVerb: Verb = {
  name: 'replay',
  usage: 'EPISODE [--robot] [--rig NAME|FILE] [key=value …]',
  about: 'Plays a recorded episode back: into a simulated robot, or with --robot into the running one.',
  details: `EPISODE is an .mcap file or the id of one. The robot first moves slowly to the first pose, then follows what was
commanded. With --robot the running operator on this machine drives, through its link and the robot's supervisor; the
robot has to be armed, and the operator to have the input "joints" (operator.inputs.joints={}). Ctrl-C lets go of it.`,
  options: {
    robot: { type: 'boolean', about: 'the running robot instead of a simulated one' },
    speed: { type: 'string', value: 'X', about: 'times the recorded speed, 0.1 to 2 (default: 1)' },
    headless: { type: 'boolean', about: 'simulated: no page' },
    'no-open': { type: 'boolean', about: 'simulated: do not open a browser' },
    rig: RIG_OPTION,
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(replayVerb, given, 1, 1);
    const json = given.values['json'] === true;
    const say = (text: string) => void (json || console.log(text));
    const [source, second] = await findEpisodes([given.words[0]!], recordDirOf(given));
    if (source === undefined || second !== undefined)
      throw new TeleopError('bad-option', 'replay plays one episode', { hint: 'Give one file or one id.' });
    const { info, rows } = await openSource(source);
    const { config } = loadRig(String(given.values['rig'] ?? 'demo'), given.overrides);
    checkModel(info, loadModel(config.model));
    const speed = numberOption(given, 'speed', 0.1, 2) ?? 1;
    const stop = new AbortController();
    onEndRequest(() => stop.abort());
    const progress = progressLine('playing');
    const play = async (rig: Rig, arm: boolean) => {
      const desk = await JointDesk.open(rig);
      try {
        return await playEpisode(desk, {
          rows,
          speed,
          arm,
          say,
          onProgress: progress.update,
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
        `${info.id}: ${played.rows} rows in ${played.seconds.toFixed(1)} s, at most ${played.maxErrorRad.toFixed(3)} rad behind${played.complete ? '' : ', ended early'}`,
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
      say(`watch it at ${url}`);
      if (given.values['no-open'] !== true) openBrowser(url);
    },
  });
  try {
    return await Promise.race([play(robot.rig, true), robot.failed]);
  } finally {
    await robot.close();
  }
}
