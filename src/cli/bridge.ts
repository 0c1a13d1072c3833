import { isIPv4 } from 'node:net';
import { startFoxgloveBridge } from '../bridge/foxglove-bridge.ts';
import { startRerunBridge } from '../bridge/rerun-bridge.ts';
import { startRos2Bridge } from '../bridge/ros2-bridge.ts';
import { TeleopError } from '../core/errors.ts';
import { loadRig, type Rig } from '../rig/rig.ts';
import { MAX_DOMAIN_ID } from '../robot/buses/dds/ids.ts';
import { isTopicName } from '../robot/buses/dds/ros2.ts';
import { expectWords, type Given, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { onEndRequest, parentChannel } from './process.ts';

/** Port that Foxglove proposes. */
const FOXGLOVE_PORT = 8765;

export const bridgeVerb: Verb = {
  name: 'bridge',
  usage: 'foxglove|rerun|ros2 [--rig NAME|FILE] [option …] [key=value …]',
  about:
    'Publishes the operator running on this machine: to Foxglove, to Rerun, or as ROS 2 topics. Receives nothing.',
  details: `foxglove: serves the topics of a recording live, on loopback; open ws://localhost:${FOXGLOVE_PORT} in Foxglove.
rerun:    logs them to a Rerun viewer; needs the Python package rerun-sdk.
ros2:     PREFIX/joint_states  sensor_msgs/JointState: measured positions, while the robot responds
          PREFIX/command       std_msgs/Float64MultiArray: joint targets as the operator sent them, while the robot follows

About 30 messages a second; pictures as they arrive. To drive a robot over ROS 2, use the driver ros2-joints instead: a
node that follows PREFIX/command bypasses the supervisor. For the topic names of the ORCA documentation, use --prefix
/orca_hand, but not in a domain where a node that moves a hand subscribes to them.`,
  examples: [
    'farhand bridge foxglove',
    'farhand bridge rerun --save session.rrd',
    'farhand bridge ros2 --domain 7',
  ],
  options: {
    rig: RIG_OPTION,
    port: { type: 'string', value: 'PORT', about: `foxglove: port (default: ${FOXGLOVE_PORT})` },
    origin: { type: 'string', value: 'URL', about: 'foxglove: another web page that may connect' },
    connect: {
      type: 'string',
      value: 'URL',
      about: 'rerun: the viewer (default: rerun+http://127.0.0.1:9876/proxy)',
    },
    save: { type: 'string', value: 'FILE', about: 'rerun: write a file instead, ending in .rrd' },
    python: { type: 'string', value: 'PATH', about: 'rerun: a Python with rerun-sdk (default: python3)' },
    domain: { type: 'string', value: 'ID', about: 'ros2: domain id (default: 0)' },
    interface: { type: 'string', value: 'ADDRESS', about: 'ros2: IPv4 address to use (default: 127.0.0.1)' },
    prefix: { type: 'string', value: 'NAME', about: 'ros2: prefix of both topics (default: /farhand)' },
  },
  async run(given: Given) {
    expectWords(bridgeVerb, given, 1, 1);
    const start = BRIDGES[given.words[0]!];
    if (start === undefined)
      throw new TeleopError('bad-option', `there is no bridge to "${given.words[0]}"`, {
        hint: `Choose one of ${Object.keys(BRIDGES).join(', ')}.`,
      });
    const { config } = loadRig(String(given.values['rig'] ?? 'demo'), given.overrides);
    const ended = new Promise<void>((resolve) => onEndRequest(resolve));
    const bridge = await start(given, config);
    void parentChannel()({ kind: 'ready', info: { prefix: bridge.says } });
    console.log(`bridge: ${bridge.says}`);
    try {
      await Promise.race([ended, ...(bridge.failed ? [bridge.failed] : [])]);
      console.log(JSON.stringify(bridge.counts()));
    } finally {
      await bridge.close();
    }
    return 0;
  },
};

interface Bridge {
  says: string;
  failed?: Promise<never>;
  counts(): object;
  close(): Promise<void>;
}

const BRIDGES: Readonly<Record<string, (given: Given, rig: Rig) => Promise<Bridge>>> = {
  async foxglove(given, rig) {
    const port = numberOption(given, 'port', 0, 65_535) ?? FOXGLOVE_PORT;
    const { origin } = given.values;
    const bridge = await startFoxgloveBridge(rig, {
      port,
      origins: origin === undefined ? [] : [String(origin)],
    });
    return { ...bridge, says: `open ${bridge.url} in Foxglove` };
  },
  async rerun(given, rig) {
    const text = (name: string) => (given.values[name] === undefined ? null : String(given.values[name]));
    const [connect, save] = [text('connect'), text('save')];
    const bridge = await startRerunBridge(rig, { python: text('python') ?? 'python3', connect, save });
    return { ...bridge, says: save === null ? 'streaming to Rerun' : `writing ${save}` };
  },
  async ros2(given, rig) {
    const domainId = numberOption(given, 'domain', 0, MAX_DOMAIN_ID) ?? 0;
    const prefix = checked(given, 'prefix', '/farhand', isTopicName, '/farhand');
    const interfaceAddress = checked(given, 'interface', '127.0.0.1', isIPv4, '127.0.0.1');
    const settings = { domainId, interfaceAddress, peers: [], allow: [], name: `farhand ${rig.name}` };
    const bridge = await startRos2Bridge(rig, settings, prefix);
    return {
      ...bridge,
      says: `${prefix}/joint_states and ${prefix}/command in domain ${domainId} on ${interfaceAddress}`,
    };
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
