import { createInterface } from 'node:readline';
import { TeleopError } from '../core/errors.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { JointsSink } from '../leader/joints-sink.ts';
import { Leader } from '../leader/leader.ts';
import type { LeaderGripper } from '../leader/leader-pose.ts';
import { RctpSink } from '../leader/rctp-sink.ts';
import { loadModel } from '../rig/robot-models.ts';
import { expectWords, type Given, numberOption, type Verb } from './arguments.ts';
import { onEndRequest } from './process.ts';

const OPEN_TICKS = 2280;
const CLOSED_TICKS = 1670;

export const leaderVerb: Verb = {
  name: 'leader',
  usage: '--port PATH [--to HOST:PORT | --joints PORT] [--model NAME] [--hz HZ] [--baud BAUD] [--spring MA]',
  about:
    'Uses a Dynamixel leader arm as an input: as a hand over RCTP, or joint by joint to the input "joints".',
  details: `  farhand leader --port /dev/ttyUSB0
  farhand leader --port /dev/ttyUSB1 --to 127.0.0.1:8889
  farhand leader --port /dev/ttyUSB0 --joints 4773

With --joints, an operator on this machine with operator.input=joints maps the joints one to one. Press Enter to make the
robot follow, slowly at first until it reaches the leader's pose; press Enter again to let go.

Joints are motors 1 to N, the gripper is motor N + 1. The joints move freely; a small current holds the gripper
open. If a motor stops responding, the hand counts as lost and the robot holds. See docs/drivers/dk1.md.`,
  options: {
    port: { type: 'string', value: 'PATH', about: 'serial device of the leader' },
    to: {
      type: 'string',
      value: 'HOST:PORT',
      about: 'where to send (default: 127.0.0.1:8888, the right hand)',
    },
    joints: {
      type: 'string',
      value: 'PORT',
      about: 'send joint by joint to the input "joints" on this port',
    },
    model: { type: 'string', value: 'NAME', about: 'model of the follower (default: dk1)' },
    hz: { type: 'string', value: 'HZ', about: 'poses per second (default: 100)' },
    baud: { type: 'string', value: 'BAUD', about: 'baud rate of the bus (default: 1000000)' },
    spring: { type: 'string', value: 'MA', about: 'current that opens the gripper (default: 100; 0: none)' },
  },
  async run(given: Given) {
    expectWords(leaderVerb, given, 0, 0);
    const port = given.values['port'];
    if (typeof port !== 'string')
      throw new TeleopError('bad-option', 'leader needs --port PATH', {
        hint: 'Give the serial device, for example --port /dev/ttyUSB0.',
      });
    const ended = new Promise<void>((resolve) => onEndRequest(resolve));
    const model = loadModel(String(given.values['model'] ?? 'dk1'));
    const gripper = { openTicks: OPEN_TICKS, closedTicks: CLOSED_TICKS };
    const joints = jointsSink(given, model, gripper);
    const sink =
      joints ?? new RctpSink(target(String(given.values['to'] ?? '127.0.0.1:8888')), model, gripper);
    const leader = await Leader.open({
      port,
      baudRate: numberOption(given, 'baud', 9600, 4_500_000) ?? 1_000_000,
      joints: model.joints.length,
      hz: numberOption(given, 'hz', 10, 500) ?? 100,
      sink,
      gripper,
      springMa: Math.round(numberOption(given, 'spring', 0, 300) ?? 100),
    });
    console.log(`leader on ${port} → ${sink.name}`);
    if (joints !== null) onEnter(() => console.log(joints.toggle() ? 'following' : 'let go'));
    await ended;
    console.log(JSON.stringify(leader.counts));
    await leader.close();
    process.stdin.destroy();
    return 0;
  },
};

function jointsSink(given: Given, model: RobotModel, gripper: LeaderGripper): JointsSink | null {
  const port = numberOption(given, 'joints', 1, 65_535);
  if (port === null) return null;
  if (given.values['to'] === undefined) return new JointsSink(port, model, gripper);
  throw new TeleopError('bad-option', '--to and --joints exclude each other', {
    hint: 'Use --to to send a hand, or --joints to send joints.',
  });
}

/** Listens for lines, not bytes: the end of stdin is no key press. */
function onEnter(toggle: () => void): void {
  console.log('Press Enter to follow, and again to let go.');
  createInterface({ input: process.stdin }).on('line', toggle);
}

function target(text: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^([\w.-]+):(\d{1,5})$/.exec(text) ?? [];
  if (host !== '' && Number(port) > 0 && Number(port) < 65_536) return { host, port: Number(port) };
  throw new TeleopError('bad-option', `--to ${text} is not HOST:PORT`, {
    hint: 'For example, --to 127.0.0.1:8888.',
  });
}
