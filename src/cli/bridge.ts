import { isIPv4 } from 'node:net';
import { startRos2Bridge } from '../bridge/ros2-bridge.ts';
import { TeleopError } from '../core/errors.ts';
import { loadRig } from '../rig/rig.ts';
import { MAX_DOMAIN_ID } from '../robot/buses/dds/ids.ts';
import { isTopicName } from '../robot/buses/dds/ros2.ts';
import { expectWords, type Given, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { onEndRequest, parentChannel } from './process.ts';

export const bridgeVerb: Verb = {
  name: 'bridge',
  usage: 'ros2 [--rig NAME|FILE] [--domain ID] [--interface ADDRESS] [--prefix NAME] [key=value …]',
  about:
    'Publishes the operator running on this machine as ROS 2 topics: its robot’s joint states and its commands.',
  details: `PREFIX/joint_states  sensor_msgs/JointState: measured positions, while the robot responds
PREFIX/command       std_msgs/Float64MultiArray: joint targets as the operator sent them, while the robot follows

About 30 messages a second. Nothing is received from ROS 2. To drive a robot over ROS 2, use the driver ros2-joints
instead: a node that follows PREFIX/command bypasses the supervisor. For the topic names of the ORCA documentation, use
--prefix /orca_hand, but not in a domain where a node that moves a hand subscribes to them.`,
  options: {
    rig: RIG_OPTION,
    domain: { type: 'string', value: 'ID', about: 'ROS domain id (default: 0)' },
    interface: { type: 'string', value: 'ADDRESS', about: 'IPv4 address to use (default: 127.0.0.1)' },
    prefix: { type: 'string', value: 'NAME', about: 'prefix of both topics (default: /farhand)' },
  },
  async run(given: Given) {
    expectWords(bridgeVerb, given, 1, 1);
    if (given.words[0] !== 'ros2')
      throw new TeleopError('bad-option', `there is no bridge to "${given.words[0]}"`, {
        hint: 'The only bridge is ros2.',
      });
    const { config } = loadRig(String(given.values['rig'] ?? 'demo'), given.overrides);
    const domainId = numberOption(given, 'domain', 0, MAX_DOMAIN_ID) ?? 0;
    const prefix = checked(given, 'prefix', '/farhand', isTopicName, '/farhand');
    const interfaceAddress = checked(given, 'interface', '127.0.0.1', isIPv4, '127.0.0.1');
    const ended = new Promise<void>((resolve) => onEndRequest(resolve));
    const settings = { domainId, interfaceAddress, peers: [], allow: [], name: `farhand ${config.name}` };
    const bridge = await startRos2Bridge(config, settings, prefix);
    void parentChannel()({ kind: 'ready', info: { prefix } });
    console.log(
      `bridge: ${prefix}/joint_states and ${prefix}/command in domain ${domainId} on ${interfaceAddress}`,
    );
    await ended;
    console.log(JSON.stringify(bridge.counts()));
    await bridge.close();
    return 0;
  },
};

function checked(
  given: Given,
  name: string,
  otherwise: string,
  isGood: (text: string) => boolean,
  example: string,
): string {
  const text = String(given.values[name] ?? otherwise);
  if (isGood(text)) return text;
  throw new TeleopError('bad-option', `--${name} ${text} is not valid`, {
    hint: `For example, --${name} ${example}.`,
  });
}
