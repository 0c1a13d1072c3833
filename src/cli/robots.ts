import { TeleopError } from '../core/errors.ts';
import type { JointModel, RobotModel } from '../geometry/robot-model.ts';
import { methodsOf } from '../mapping/ik/solver.ts';
import { loadModel, loadModelNoted, modelNames } from '../rig/robot-models.ts';
import { type Given, JSON_OPTION, type Verb } from './arguments.ts';

export const robotsVerb: Verb = {
  name: 'robots',
  usage: '[show NAME|FILE]',
  about: 'Lists the robot models; show prints one: joints, limits, home pose, collision capsules.',
  details: 'FILE is a YAML or URDF file; arm.urdf#tip_link selects the end of the chain.',
  examples: ['farhand robots', 'farhand robots show ur3', 'farhand robots show arm.urdf#tool0 --json'],
  options: { json: JSON_OPTION },
  async run(given: Given) {
    const [action, name, ...more] = given.words;
    const json = given.values['json'] === true;
    if (action === undefined) list(json);
    else if (action === 'show' && name !== undefined && more.length === 0) show(name, json);
    else
      throw new TeleopError('bad-option', `robots has no action "${given.words.join(' ')}"`, {
        hint: 'Use `farhand robots` or `farhand robots show ur3`.',
      });
    return 0;
  },
};

function list(json: boolean): void {
  const rows = modelNames().map((name) => {
    const model = loadModel(name);
    return { name, title: model.title, joints: model.joints.length, methods: methodsOf(model) };
  });
  if (json) {
    console.log(JSON.stringify(rows));
    return;
  }
  const width = widthOf(rows.map(({ name }) => name));
  for (const { name, title, joints, methods } of rows)
    console.log(
      `${name.padEnd(width)}${String(joints).padStart(2)} joints   ${methods.join(', ').padEnd(30)}${title}`,
    );
}

/** Of a column with these texts and the space behind it. */
const widthOf = (texts: readonly string[]): number => Math.max(14, ...texts.map(({ length }) => length)) + 2;

function show(name: string, json: boolean): void {
  const { model, notes } = loadModelNoted(name);
  if (json) console.log(JSON.stringify({ ...model, methods: methodsOf(model), notes }));
  else console.log(modelText(model, notes));
}

const fixed = (values: readonly number[], digits: number): string =>
  values.map((value) => value.toFixed(digits)).join(', ');

function modelText(model: RobotModel, notes: readonly string[]): string {
  const { capsules, workspace } = model;
  const width = widthOf([...model.joints, ...capsules].map(({ name }) => name));
  const head = `${'joint'.padEnd(width)}${['min rad', 'max rad', 'rad/s', 'rad/s²', 'rad/s³', 'home rad'].map((text) => text.padStart(10)).join('')}  geometry`;
  return [
    `${model.name}: ${model.title}`,
    `  family     ${model.family}`,
    `  methods    ${methodsOf(model).join(', ')}`,
    `  gripper    ${model.gripper ? 'yes' : 'no'}`,
    `  tool       at ${fixed(model.tool.xyzM, 4)} m, rpy ${fixed(model.tool.rpyRad, 4)} rad`,
    ...(workspace ? [`  workspace  ${fixed(workspace.minM, 2)} to ${fixed(workspace.maxM, 2)} m`] : []),
    '',
    head,
    ...model.joints.map((joint, i) => jointText(joint, model.homeRad[i]!, width)),
    '',
    capsules.length === 0
      ? 'no collision capsules'
      : `${'capsule'.padEnd(width)}frame   radius m   from → to m`,
    ...capsules.map(
      ({ name, frame, fromM, toM, radiusM }) =>
        `${name.padEnd(width)}${String(frame).padStart(5)}${radiusM.toFixed(3).padStart(11)}   ${fixed(fromM, 3)} → ${fixed(toM, 3)}`,
    ),
    ...model.mayTouch.map(([a, b]) => `${'may touch'.padEnd(width)}${a}, ${b}`),
    ...notes.map((note) => `note: ${note}`),
  ].join('\n');
}

function jointText(joint: JointModel, homeRad: number, width: number): string {
  const { name, minRad, maxRad, maxVelocityRadS, maxAccelerationRadS2, maxJerkRadS3 } = joint;
  const numbers = [minRad, maxRad, maxVelocityRadS, maxAccelerationRadS2, maxJerkRadS3, homeRad];
  return `${name.padEnd(width)}${numbers.map((value) => String(Number(value.toFixed(4))).padStart(10)).join('')}  ${geometryText(joint)}`;
}

function geometryText({ dh, modifiedDh, origin, axis }: JointModel): string {
  const row = dh ?? modifiedDh;
  if (row !== undefined)
    return `${dh ? 'DH' : 'modified DH'} a ${row.aM} m, d ${row.dM} m, α ${row.alphaRad.toFixed(4)}, θ₀ ${row.thetaRad.toFixed(4)}`;
  return `origin ${fixed(origin!.xyzM, 5)} m, rpy ${fixed(origin!.rpyRad, 4)}, axis ${(axis ?? [0, 0, 1]).join(' ')}`;
}
