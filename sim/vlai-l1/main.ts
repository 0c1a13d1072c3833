import type { Given } from '../../src/cli/arguments.ts';
import { VLAI_L1 } from '../../src/robot/damiao/arms.ts';
import { type ArmKind, damiaoDetails, damiaoOptions, runDamiao } from '../damiao/run.ts';

const kind: ArmKind = {
  name: 'vlai-l1',
  facts: VLAI_L1,
  models: { right: 'vlai-l1-right', left: 'vlai-l1-left' },
  adapter: 'slcan',
  sags: [
    { joint: 0, toRad: 0 },
    { joint: 1, toRad: 0 },
    { joint: 3, toRad: 0 },
  ],
};

export const about = 'VLAI L1, one arm behind a serial CAN adapter (SLCAN on a pseudo-terminal)';

export const details = `Creates a pseudo-terminal and a symbolic link PATH to it, which a driver opens like an adapter:
  farhand sim vlai-l1 --slcan /tmp/l1
  farhand robot rig=vlai-l1 robot.options.bus=slcan:/tmp/l1

${damiaoDetails}`;

export const options = damiaoOptions(kind);

export const run = (given: Given, stop: AbortSignal): Promise<number> => runDamiao(kind, given, stop);
