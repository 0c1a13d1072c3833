import type { Given } from '../../src/cli/arguments.ts';
import { DK1 } from '../../src/robot/buses/damiao/arms.ts';
import { type ArmKind, damiaoDetails, damiaoOptions, runDamiao } from '../damiao/run.ts';

const kind: ArmKind = {
  name: 'dk1',
  facts: DK1,
  models: { right: 'dk1', left: 'dk1' },
  adapter: 'damiao',
  sags: [
    { joint: 1, toRad: 0 },
    { joint: 2, toRad: 0 },
  ],
};

export const about =
  'TRLC DK1 follower behind Damiao’s serial adapter (30/16-byte frames on a pseudo-terminal)';

export const details = `Creates a pseudo-terminal and a symbolic link PATH to it, which a driver opens like an adapter.

Seven Damiao motors; the gripper has two ends for homing. One process per arm.
${damiaoDetails}`;

export const examples = [
  'farhand sim dk1 --serial /tmp/dk1',
  'farhand robot rig=dk1 robot.options.bus=damiao:/tmp/dk1',
];

export const options = damiaoOptions(kind);

export const run = (given: Given, stop: AbortSignal): Promise<number> => runDamiao(kind, given, stop);
