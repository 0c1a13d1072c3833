import type { Given } from '../../src/cli/arguments.ts';
import { OPENARM } from '../../src/robot/buses/damiao/arms.ts';
import { type ArmKind, damiaoDetails, damiaoOptions, runDamiao } from '../damiao/run.ts';

const kind: ArmKind = {
  name: 'openarm',
  facts: OPENARM,
  models: { right: 'openarm', left: 'openarm-left' },
  adapter: 'slcan',
  sags: [
    { joint: 0, toRad: 0 },
    { joint: 1, toRad: 0 },
    { joint: 3, toRad: 0 },
  ],
  leads: true,
};

export const about = 'Enactic OpenArm behind a serial CAN adapter (SLCAN on a pseudo-terminal)';

export const details = `Creates a pseudo-terminal and a symbolic link PATH to it, which a driver opens like an adapter.

Eight Damiao motors, classic and FD frames: registers, orders, MIT, position–velocity and position–force control.
${damiaoDetails}`;

export const examples = [
  'farhand sim openarm --slcan /tmp/openarm',
  'farhand robot rig=openarm robot.options.bus=slcan:/tmp/openarm',
];

export const options = damiaoOptions(kind);

export const run = (given: Given, stop: AbortSignal): Promise<number> => runDamiao(kind, given, stop);
