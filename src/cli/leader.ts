import { createInterface } from 'node:readline';
import { TeleopError } from '../core/errors.ts';
import { splitHostPort } from '../core/ip-address.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { openTelemetryFeed } from '../desk/telemetry-feed.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { DamiaoLine, damiaoLeaderFacts, damiaoMotorFacts } from '../leader/damiao-line.ts';
import { ForceFeedback, type Unfelt } from '../leader/force-feedback.ts';
import { JointsSink } from '../leader/joints-sink.ts';
import { Leader } from '../leader/leader.ts';
import { leaderBody } from '../leader/leader-arms.ts';
import type { LeaderLine, MotorFacts } from '../leader/leader-line.ts';
import { DYNAMIXEL_LEADER, feetechLeader } from '../leader/leader-motors.ts';
import { RctpSink } from '../leader/rctp-sink.ts';
import { ServoLine, type ServoLineOptions } from '../leader/servo-line.ts';
import { oneArm } from '../rig/arms.ts';
import { loadRig, type Rig } from '../rig/rig.ts';
import { loadModel } from '../rig/robot-models.ts';
import { CAN_NAME } from '../robot/buses/open-can.ts';
import { loadCalibration } from '../robot/drivers/so101/calibration-file.ts';
import { expectWords, type Given, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { onEndRequest } from './process.ts';

const OPEN_TICKS = 2280;
const CLOSED_TICKS = 1670;

export const leaderVerb: Verb = {
  name: 'leader',
  usage:
    '--port PATH [--motors dynamixel|feetech|damiao] [--calibration FILE] [--classic] [--to HOST:PORT | --joints PORT | rig=NAME [--arm SIDE] [key=value …]] [--model NAME] [--hz HZ] [--baud BAUD] [--spring MA]',
  about:
    'Uses a leader arm of Dynamixel, Feetech or Damiao motors as an input: as a hand over RCTP, or joint by joint to the input "leader".',
  details: `With --joints, an operator on this machine with operator.input=leader maps the joints one to one. Press Enter to make the
robot follow, slowly at first until it reaches the leader's pose; press Enter again to release it. While a policy drives, Enter takes
over, and b and Enter hand back.

With rig=NAME the port, the gains and limits of the leader's torques come from the rig (operator.leader). All are off by default.
With operator.leader.forceGain the leader's joints feel what the robot meets, while it follows. The torque is passive: it
never gives back more energy than the person has put in, whatever the network's delay. It ends at once when you release the robot, the
robot holds or stops, or its state is missing for 0.1 s. With operator.leader.gravityGain the leader carries its own weight.

Joints are motors 1 to N, the gripper is motor N + 1. The joints move freely; a small current holds the gripper
open (Dynamixel only). If a motor stops responding, the hand counts as lost and the robot holds. See docs/drivers/dk1.md,
docs/drivers/so101.md and docs/drivers/openarm.md.

A leader of Damiao motors (OpenArm, VLAI L1) is on a CAN bus: --port socketcan:can1, or slcan:/dev/ttyACM0.`,
  examples: [
    'farhand leader --port /dev/ttyUSB0',
    'farhand leader --port /dev/ttyUSB1 --to 127.0.0.1:8889',
    'farhand leader --port /dev/ttyUSB0 rig=dk1 operator.leader.forceGain=0.02 operator.leader.gravityGain=0.6',
    'farhand leader --port socketcan:can2 --motors damiao rig=openarm operator.leader.gravityGain=0.8',
    'farhand leader --port /dev/ttyACM1 --motors feetech --calibration leader.json --joints 4774',
  ],
  options: {
    port: {
      type: 'string',
      value: 'PATH',
      about: 'serial device of the leader; of Damiao motors, their CAN bus',
    },
    to: {
      type: 'string',
      value: 'HOST:PORT',
      about: 'where to send (default: 127.0.0.1:8888, the right hand)',
    },
    joints: {
      type: 'string',
      value: 'PORT',
      about: 'send joint by joint to the input "leader" (or "joints") on this port',
    },
    rig: {
      ...RIG_OPTION,
      about: 'send joint by joint to the operator of this rig, with its operator.leader',
    },
    arm: { type: 'string', value: 'left|right', about: 'which arm of a rig with two' },
    motors: {
      type: 'string',
      value: 'MAKE',
      about: 'dynamixel (default), feetech (SO-100, SO-101) or damiao (OpenArm)',
    },
    classic: { type: 'boolean', about: 'CAN without FD, for Damiao motors that are set to it' },
    calibration: { type: 'string', value: 'FILE', about: 'of a Feetech leader, in LeRobot’s JSON' },
    model: {
      type: 'string',
      value: 'NAME',
      about: 'model of the follower (default: dk1, with feetech so101)',
    },
    hz: { type: 'string', value: 'HZ', about: 'poses per second (default: 100, with torques 200)' },
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
    const rig = chosenRig(given);
    const arm = chosenArm(given, port, rig);
    const { model } = arm;
    const joints = jointsSink(given, model, rig);
    const force = rig === null || joints === null ? null : forceOf(rig, model, arm.facts);
    const hz = numberOption(given, 'hz', 10, 500) ?? (force === null ? 100 : 200);
    const sink = joints ?? new RctpSink(target(String(given.values['to'] ?? '127.0.0.1:8888')), model);
    const leader = await Leader.open({ open: arm.open, hz, sink, force });
    console.log(`leader on ${port} → ${sink.name}`);
    if (joints !== null) onLine(joints);
    const endForce = rig === null || force === null ? () => {} : feel(rig, given, force);
    await ended;
    endForce();
    console.log(JSON.stringify(leader.counts));
    await leader.close();
    process.stdin.destroy();
    return 0;
  },
};

const WATCH_MS = 200;

function chosenRig(given: Given): Rig | null {
  const name = given.values['rig'];
  if (typeof name !== 'string') {
    if (given.overrides.length === 0 && given.values['arm'] === undefined) return null;
    throw new TeleopError('bad-option', 'settings and --arm need a rig', {
      hint: 'Add rig=NAME, for example rig=dk1.',
    });
  }
  const { config } = loadRig(name, given.overrides);
  const side = given.values['arm'];
  if (config.arms === null && side === undefined) return config;
  return oneArm(config, String(side ?? ''));
}

/** Null: nothing is on. */
function forceOf(rig: Rig, model: RobotModel, facts: MotorFacts): ForceFeedback | null {
  const { forceGain, gravityGain, maxTorquePercent } = rig.operator.leader;
  if (forceGain === 0 && gravityGain === 0) return null;
  const body = leaderBody(model, facts, maxTorquePercent);
  if (gravityGain > 0 && body.links.length === 0)
    throw new TeleopError('bad-config', `the masses of a leader of "${model.name}" are unknown`, {
      hint: 'Set operator.leader.gravityGain=0.',
    });
  return new ForceFeedback(body, { forceGain, gravityGain });
}

/** Passes the robot's states on, and prints when the person begins or ceases to feel it. */
function feel(rig: Rig, given: Given, force: ForceFeedback): () => void {
  const side = given.values['arm'];
  const feed = openTelemetryFeed(
    rig,
    () => {},
    (state) => {
      if (state.side === side) force.robot(state, monotonicClock.nowNs());
    },
  );
  let shown = '';
  const timer = setInterval(() => {
    const text =
      force.unfelt === '' ? 'force feedback on' : `no force feedback: ${UNFELT_TEXT[force.unfelt]}`;
    if (text !== shown) console.log(text);
    shown = text;
  }, WATCH_MS);
  return () => {
    clearInterval(timer);
    feed.close();
  };
}

const UNFELT_TEXT: Readonly<Record<Exclude<Unfelt, ''>, string>> = {
  off: 'operator.leader.forceGain is 0',
  'let go': 'the robot does not follow; press Enter',
  silence: 'no state of the robot arrives; is the operator running with this rig?',
  'not engaged': 'the robot is not engaged',
  'effort unknown': 'the robot does not report torques from outside; see robot.freeMotion',
  runaway: 'a joint moved too fast; let go and follow again with Enter',
};

interface LeaderArm {
  open(): Promise<LeaderLine>;
  facts: MotorFacts;
  model: RobotModel;
}

function chosenArm(given: Given, port: string, rig: Rig | null): LeaderArm {
  const { motors = 'dynamixel' } = given.values;
  const modelOr = (name: string) => loadModel(String(given.values['model'] ?? rig?.model ?? name));
  if (motors === 'damiao') return damiaoArm(given, port, modelOr('openarm'));
  if (motors !== 'dynamixel' && motors !== 'feetech')
    throw new TeleopError('bad-option', `unknown motors "${String(motors)}"`, {
      hint: 'Use --motors dynamixel, feetech or damiao.',
    });
  const isFeetech = motors === 'feetech';
  const model = modelOr(isFeetech ? 'so101' : 'dk1');
  const settings = {
    port,
    baudRate: numberOption(given, 'baud', 9600, 4_500_000) ?? 1_000_000,
    joints: model.joints.length,
    springMa: isFeetech ? 0 : Math.round(numberOption(given, 'spring', 0, 300) ?? 100),
  };
  const own = isFeetech
    ? feetechArm(given.values['calibration'])
    : { motors: DYNAMIXEL_LEADER, gripper: { openTicks: OPEN_TICKS, closedTicks: CLOSED_TICKS } };
  return { open: () => ServoLine.open({ ...settings, ...own }), facts: own.motors.torque, model };
}

function damiaoArm(given: Given, port: string, model: RobotModel): LeaderArm {
  if (!CAN_NAME.test(port))
    throw new TeleopError('bad-option', `--port ${port} is not a CAN bus`, {
      hint: 'Write socketcan:can0, slcan:/dev/ttyACM0 or damiao:/dev/ttyACM0.',
    });
  const isFd = given.values['classic'] !== true && !port.startsWith('damiao:');
  const facts = damiaoMotorFacts(damiaoLeaderFacts(model));
  return { open: () => DamiaoLine.open(port, isFd, model), facts, model };
}

function feetechArm(calibration: unknown): Pick<ServoLineOptions, 'motors' | 'gripper'> {
  if (typeof calibration !== 'string')
    throw new TeleopError('bad-option', 'a Feetech leader needs --calibration FILE', {
      hint: 'Use the file of `farhand calibrate so101` or LeRobot.',
    });
  const ranges = loadCalibration(calibration);
  const middles = ranges.slice(0, -1).map(({ range_min, range_max }) => (range_min + range_max) / 2);
  const { range_min, range_max } = ranges.at(-1)!;
  return { motors: feetechLeader(middles), gripper: { openTicks: range_max, closedTicks: range_min } };
}

function jointsSink(given: Given, model: RobotModel, rig: Rig | null): JointsSink | null {
  const named = numberOption(given, 'joints', 1, 65_535);
  const inputs = rig?.operator.inputs;
  const ofRig = (inputs?.['leader'] ?? inputs?.['joints'])?.['port'];
  const port = named ?? (given.values['to'] === undefined && ofRig !== undefined ? Number(ofRig) : null);
  if (port === null) {
    if (rig === null || given.values['to'] !== undefined) return null;
    throw new TeleopError('bad-config', `rig ${rig.name} has no port for the input "leader"`, {
      hint: 'Set operator.inputs.leader.port here and for the operator.',
    });
  }
  if (given.values['to'] === undefined) return new JointsSink(port, model);
  throw new TeleopError('bad-option', '--to and --joints exclude each other', {
    hint: 'Use --to to send a hand, or --joints to send joints.',
  });
}

/** Listens for lines, not bytes: the end of stdin is no key press. */
function onLine(joints: JointsSink): void {
  console.log('Press Enter to follow, and again to let go. b and Enter: let go, and hand back to a policy.');
  createInterface({ input: process.stdin }).on('line', (line) => {
    if (line.trim() === 'b') joints.handBack();
    else if (joints.toggle()) return console.log('following');
    console.log('let go');
  });
}

function target(text: string): { host: string; port: number } {
  const to = splitHostPort(text);
  if (to?.host != null && to.port > 0) return { host: to.host, port: to.port };
  throw new TeleopError('bad-option', `--to ${text} is not HOST:PORT`, {
    hint: 'For example, --to 127.0.0.1:8888.',
  });
}
