import { TeleopError } from '../core/errors.ts';
import { createChain } from '../geometry/chain.ts';
import { expectWords, type Given, numberOption, type Verb } from './arguments.ts';
import { answerLines, numbersInto } from './json-lines.ts';
import { ROBOT_OPTION, robotOption } from './robot-option.ts';

export const fkVerb: Verb = {
  name: 'fk',
  usage: '--robot NAME|FILE [--link K]',
  about: 'Forward kinematics: joint angles on stdin, poses on stdout, one JSON object per line.',
  details: `In:  {"q":[0,-1.57,1.57,-1.57,-1.57,0]}          radians, one per joint
Out: {"positionM":[x,y,z],"quatXyzw":[x,y,z,w]}   in the base frame; with --link the frame of that joint, and also
     the flange: {…,"flange":{"positionM":…,"quatXyzw":…}}
An invalid line gets {"status":"bad-input","reason":…}; processing continues with the next line.`,
  examples: ['farhand fk --robot ur3 < joints.jsonl'],
  options: {
    robot: ROBOT_OPTION,
    link: { type: 'string', value: 'K', about: 'frame of joint K, 0 is the base (default: the flange)' },
  },
  async run(given: Given) {
    expectWords(fkVerb, given, 0, 0);
    const chain = createChain(robotOption(fkVerb, given));
    const asked = numberOption(given, 'link', 0, chain.joints);
    const link = asked ?? chain.joints;
    if (!Number.isInteger(link))
      throw new TeleopError('bad-option', `--link ${link} is not a whole number`, {
        hint: `Frames are numbered from 0 (the base) to ${chain.joints} (the flange).`,
      });
    const qRad = new Float64Array(chain.joints);
    const positionM = new Float64Array(3);
    const quatXyzw = new Float64Array(4);
    const frame = (at: number) => {
      chain.frame(qRad, at, positionM, quatXyzw);
      return { positionM: Array.from(positionM), quatXyzw: Array.from(quatXyzw) };
    };
    await answerLines((line) => {
      numbersInto(line, 'q', qRad);
      return asked === null ? frame(link) : { ...frame(link), flange: frame(chain.joints) };
    });
    return 0;
  },
};
