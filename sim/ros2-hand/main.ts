import { type Given, numberOption, type OptionSpec } from '../../src/cli/arguments.ts';
import { CdrWriter, ENCAPSULATION } from '../../src/core/cdr.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { Periodic } from '../../src/core/time/periodic.ts';
import { MAX_DOMAIN_ID } from '../../src/robot/buses/dds/ids.ts';
import { DdsNode } from '../../src/robot/buses/dds/node.ts';
import { float64MultiArray, jointState, readMessageOf, ros2Topic } from '../../src/robot/buses/dds/ros2.ts';
import { SimulatedHand } from './hand.ts';

export const about = 'a ROS 2 hardware node of a hand: accepts commands, publishes joint states, without ROS';

export const details = `Subscribes PREFIX/command (std_msgs/Float64MultiArray) and publishes PREFIX/joint_states
(sensor_msgs/JointState), as the node of an ORCA hand does.`;

/** ORCA hand v1, in the order of its command. */
const ORCA_V1 = [
  'thumb_mcp thumb_abd thumb_pip thumb_dip index_abd index_mcp index_pip middle_abd middle_mcp middle_pip',
  'ring_abd ring_mcp ring_pip pinky_abd pinky_mcp pinky_pip wrist',
]
  .join(' ')
  .split(' ');

const BYTES = 65_536;

export const examples = [
  'farhand sim ros2-hand --domain 42',
  'farhand robot --rig FILE robot.driver=ros2-joints robot.options.domainId=42',
];

export const options: Record<string, OptionSpec> = {
  domain: { type: 'string', value: 'ID', about: 'ROS domain id (default: 0)' },
  interface: { type: 'string', value: 'ADDRESS', about: 'IPv4 address to use (default: 127.0.0.1)' },
  prefix: { type: 'string', value: 'NAME', about: 'prefix of both topics (default: /orca_hand)' },
  joints: { type: 'string', value: 'A,B,…', about: 'joint names (default: the 17 of an ORCA hand v1)' },
  start: { type: 'string', value: 'RAD,…', about: 'joint angles at the start (default: all 0)' },
  hz: { type: 'string', value: 'HZ', about: 'joint states per second (default: 90)' },
  speed: { type: 'string', value: 'RAD/S', about: 'speed limit of each joint (default: 1.5)' },
  'best-effort': { type: 'boolean', about: 'publish and subscribe without delivery guarantees' },
  seconds: { type: 'string', value: 'S', about: 'end after S seconds (default: at Ctrl-C)' },
};

export async function run(given: Given, stop: AbortSignal): Promise<number> {
  const text = (name: string, otherwise: string) => String(given.values[name] ?? otherwise);
  const domainId = numberOption(given, 'domain', 0, MAX_DOMAIN_ID) ?? 0;
  const hz = numberOption(given, 'hz', 1, 1000) ?? 90;
  const speedRadS = numberOption(given, 'speed', 0.01, 100) ?? 1.5;
  const seconds = numberOption(given, 'seconds', 0.1, 86_400) ?? Number.POSITIVE_INFINITY;
  const prefix = text('prefix', '/orca_hand');
  const names = text('joints', ORCA_V1.join(',')).split(',');
  if (names.some((name) => name === ''))
    throw new TeleopError('bad-option', '--joints has an empty name', {
      hint: 'Give names separated by commas.',
    });
  const startRad = text('start', names.map(() => '0').join())
    .split(',')
    .map(Number);
  if (startRad.length !== names.length || !startRad.every(Number.isFinite))
    throw new TeleopError('bad-option', `--start is not ${names.length} angles`, {
      hint: 'Give angles in radians, separated by commas.',
    });
  const interfaceAddress = text('interface', '127.0.0.1');
  const settings = { domainId, interfaceAddress, peers: [], allow: [], name: 'ros2-hand' };
  const node = await DdsNode.open(settings, monotonicClock);
  const hand = new SimulatedHand(startRad, speedRadS);
  const reliable = given.values['best-effort'] !== true;
  const publish = declare(node, hand, names, prefix, reliable);
  node.start();
  console.log(
    `sim ros2-hand ready: ${prefix} in domain ${domainId} on ${interfaceAddress}, ${names.length} joints`,
  );
  await pace(hz, seconds, stop, (elapsedS) => {
    hand.advance(elapsedS);
    publish();
  });
  await node.close();
  return 0;
}

function declare(
  node: DdsNode,
  hand: SimulatedHand,
  names: readonly string[],
  prefix: string,
  reliable: boolean,
): () => void {
  const { participant } = node;
  participant.addReader(
    ros2Topic(`${prefix}/command`, float64MultiArray, { reliable }),
    ({ payload, gone }) => {
      if (gone !== 0) return;
      const command = readMessageOf(float64MultiArray, payload);
      if (command === null || !hand.command(command.data)) participant.tally.add('refused-message');
    },
  );
  const states = participant.addWriter(ros2Topic(`${prefix}/joint_states`, jointState, { reliable }));
  const out = new CdrWriter(new Uint8Array(BYTES));
  return () => {
    out.begin(ENCAPSULATION.cdrLe);
    jointState.write(out, {
      stampNs: node.wallNs,
      frameId: '',
      names,
      positions: hand.positionsRad,
      velocities: hand.velocitiesRadS,
      efforts: [],
    });
    if (out.ok) states.write(out.bytes.subarray(0, out.length), node.wallNs, monotonicClock.nowNs());
  };
}

/** Calls `step` at that rate with the seconds since the last call. */
function pace(
  hz: number,
  seconds: number,
  stop: AbortSignal,
  step: (elapsedS: number) => void,
): Promise<void> {
  const startNs = monotonicClock.nowNs();
  const beats = new Periodic(hz, startNs);
  let lastNs = startNs;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const nowNs = monotonicClock.nowNs();
      if (stop.aborted || nowNs - startNs > seconds * 1e9) {
        clearInterval(timer);
        resolve();
      } else if (nowNs >= beats.nextNs) {
        beats.due(nowNs);
        step((nowNs - lastNs) / 1e9);
        lastNs = nowNs;
      }
    }, 1);
  });
}
