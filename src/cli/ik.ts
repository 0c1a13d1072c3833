import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { ClosedSolver } from '../mapping/ik/contract.ts';
import { createSolver, isClosed, METHODS, type Method, methodsOf } from '../mapping/ik/solver.ts';
import { expectWords, type Given, type Verb } from './arguments.ts';
import { answerLines, BadLine, numbersInto } from './json-lines.ts';
import { ROBOT_OPTION, robotOption } from './robot-option.ts';

/** Seeds to try when a line has none. */
const RESTARTS = 40;

export const ikVerb: Verb = {
  name: 'ik',
  usage: '--robot NAME|FILE [--method M] [--all]',
  about: 'Inverse kinematics: poses on stdin, joint angles on stdout, one JSON object per line.',
  details: `In:  {"positionM":[x,y,z],"quatXyzw":[x,y,z,w],"seed":[…]}   in the base frame; default seed: the home pose
Out: {"q":[…],"status":"ok"}   nearest to the seed; numeric also reports the remaining error: residualM, residualRad
     {"q":[…],"status":"ok","solutions":[[…],…]}   with --all
Status: ok; clamped (nearest solution within the limits); unreachable (likewise, and no pose of the arm gets there);
bad-input, with a reason; processing continues with the next line.

Methods: decoupled (six joints or more: the last three turn the flange, the others place the near side of the wrist, on a UR
the origin of joint 3), analytic (UR, Piper: closed form), numeric (any arm).`,
  examples: [
    'farhand ik --robot piper < poses.jsonl',
    'farhand ik --robot arm.urdf#tool0 --method numeric < poses.jsonl',
  ],
  options: {
    robot: ROBOT_OPTION,
    method: { type: 'string', value: 'M', about: `${METHODS.join(', ')} (default: analytic, else numeric)` },
    all: { type: 'boolean', about: 'also list every solution within the limits (analytic; UR: decoupled)' },
  },
  async run(given: Given) {
    expectWords(ikVerb, given, 0, 0);
    const model = robotOption(ikVerb, given);
    const method = methodOption(model, given);
    const isAll = given.values['all'] === true;
    const listsAll = isClosed(model, method);
    if (isAll && !listsAll)
      throw new TeleopError(
        'bad-option',
        `--all needs a closed-form method: ${method} finds only one solution`,
        {
          hint: 'Use --method analytic with a robot of family ur or piper (`farhand robots`).',
        },
      );
    const nearest = nearestOf(model, method);
    await answerLines(isAll && listsAll ? allOf(model, method, nearest) : nearest);
    return 0;
  },
};

function methodOption(model: RobotModel, given: Given): Method {
  const name = given.values['method'];
  if (name === undefined) return methodsOf(model).includes('analytic') ? 'analytic' : 'numeric';
  const method = METHODS.find((each) => each === name);
  if (method !== undefined) return method;
  const near = closest(String(name), METHODS);
  throw new TeleopError('bad-option', `there is no method "${String(name)}"`, {
    hint: near ? `Did you mean --method ${near}?` : `Use one of ${METHODS.join(', ')}.`,
  });
}

type Answer = (line: Record<string, unknown>) => { q: number[]; status: string };

function nearestOf(model: RobotModel, method: Method): Answer {
  const joints = model.joints.length;
  const options = { switchAtLimit: true };
  const solver = createSolver(model, method, options);
  const searching = createSolver(model, method, { ...options, restarts: RESTARTS });
  const positionM = new Float64Array(3);
  const quatXyzw = new Float64Array(4);
  const seedRad = new Float64Array(joints);
  const outRad = new Float64Array(joints);
  return (line) => {
    const isSeeded = line['seed'] !== undefined;
    numbersInto(line, 'positionM', positionM);
    numbersInto(line, 'quatXyzw', quatXyzw);
    if (isSeeded) numbersInto(line, 'seed', seedRad);
    else seedRad.set(model.homeRad);
    const used = isSeeded ? solver : searching;
    const status = used.solve(positionM, quatXyzw, seedRad, outRad);
    if (status === 'bad-input') throw new BadLine('quatXyzw: length is zero');
    const q = Array.from(outRad);
    if (!('residual' in used)) return { q, status };
    const [residualM, residualRad] = used.residual as Float64Array;
    return { q, status, residualM, residualRad };
  };
}

function allOf(model: RobotModel, method: Method, nearest: Answer): Answer {
  const joints = model.joints.length;
  const solver = createSolver(model, method) as ClosedSolver;
  const positionM = new Float64Array(3);
  const quatXyzw = new Float64Array(4);
  const out = new Float64Array(solver.allSize);
  return (line) => {
    const answer = nearest(line);
    numbersInto(line, 'positionM', positionM);
    numbersInto(line, 'quatXyzw', quatXyzw);
    const count = Math.max(0, solver.all(positionM, quatXyzw, out));
    const solutions = Array.from({ length: count }, (_, i) => [
      ...out.subarray(i * joints, (i + 1) * joints),
    ]);
    return { ...answer, solutions };
  };
}
