import { type Given, numberOption, type OptionSpec } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { VLAI_L1 } from '../../src/robot/buses/damiao/arms.ts';
import { type ArmKind, damiaoDetails, damiaoOptions, runDamiao } from '../damiao/run.ts';
import { runSteps } from '../stepper.ts';
import { DualArm } from './dual-arm.ts';
import { openRosNode } from './ros-node.ts';
import { RosbridgeServer } from './rosbridge-server.ts';

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
  leads: true,
};

export const about = 'VLAI L1: one arm on SLCAN, or both behind the vendor’s ROS 2 topics or rosbridge';

export const details = `With --slcan, a pseudo-terminal and a symbolic link PATH to it, which a driver opens like an adapter.

With --rosbridge or --ros2, both arms like the vendor's node (/dual_xarm/joints etc.), 200 states per second.

${damiaoDetails}`;

export const examples = [
  'farhand sim vlai-l1 --slcan /tmp/l1',
  'farhand robot rig=vlai-l1 robot.options.can.bus=slcan:/tmp/l1',
  'farhand sim vlai-l1 --rosbridge 9090',
  'farhand robot rig=vlai-l1 robot.options.via=rosbridge',
];

export const options: Record<string, OptionSpec> = {
  ...damiaoOptions(kind),
  rosbridge: { type: 'string', value: 'PORT', about: 'serve rosbridge on this TCP port; 0: any' },
  ros2: { type: 'string', value: 'DOMAIN', about: 'run as a ROS 2 node in this domain' },
};

const STEP_S = 0.005;

export async function run(given: Given, stop: AbortSignal): Promise<number> {
  const port = numberOption(given, 'rosbridge', 0, 65_535);
  const domainId = numberOption(given, 'ros2', 0, 232);
  if (port === null && domainId === null) return runDamiao(kind, given, stop);
  if (given.values['slcan'] !== undefined)
    throw new TeleopError('bad-option', '--slcan simulates one arm, --rosbridge and --ros2 both', {
      hint: 'Leave out --slcan, or leave out --rosbridge and --ros2.',
    });
  const dual = new DualArm();
  const server = port === null ? null : await RosbridgeServer.open(dual, port);
  const node = domainId === null ? null : await openRosNode(dual, domainId);
  const where = [server && `rosbridge ${server.port}`, node && `domain ${domainId}`].filter(Boolean);
  console.log(`sim vlai-l1 ready: ${where.join(', ')}`);
  const endSteps = runSteps(STEP_S, () => {
    dual.advance(STEP_S);
    server?.publish();
    node?.publish();
  });
  const seconds = numberOption(given, 'seconds', 0.1, 86_400);
  await new Promise<void>((resolve) => {
    stop.addEventListener('abort', () => resolve());
    if (stop.aborted) resolve();
    if (seconds !== null) setTimeout(resolve, seconds * 1000);
  });
  endSteps();
  server?.close();
  await node?.close();
  return 0;
}
