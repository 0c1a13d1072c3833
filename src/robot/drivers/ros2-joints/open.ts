import { TeleopError } from '../../../core/errors.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import type { Ros2JointsConfig } from './config.ts';
import { Ros2JointsDriver } from './joints-driver.ts';

function jointNames(config: Ros2JointsConfig, model: RobotModel): readonly string[] {
  return config.joints.length === 0 ? model.joints.map(({ name }) => name) : config.joints;
}

/** Looks for the robot's node and waits for its first joint state. Moves nothing. */
export async function openRos2Joints(
  config: Ros2JointsConfig,
  model: RobotModel,
  clock: Clock,
): Promise<Ros2JointsDriver> {
  const joints = jointNames(config, model);
  if (joints.length !== model.joints.length || new Set(joints).size !== joints.length)
    throw new TeleopError('bad-config', `\`joints\` needs ${model.joints.length} distinct names`, {
      hint: 'Give one name per joint of the model, in the order of the command, or leave it empty.',
    });
  const driver = await Ros2JointsDriver.connect(config, joints, clock);
  const isThere = () => driver.feedback.receivedNs > Number.NEGATIVE_INFINITY && driver.subscribers > 0;
  if (await driver.node.until(isThere, config.connectTimeoutMs)) return driver;
  const error = silence(driver, config);
  driver.dispose();
  throw error;
}

/** The most likely reason that nothing arrived. */
function silence(driver: Ros2JointsDriver, config: Ros2JointsConfig): TeleopError {
  const { participant } = driver.node;
  const { domainId, interfaceAddress, stateTopic, commandTopic } = config;
  const where = `in domain ${domainId} on ${interfaceAddress}`;
  if (participant.participants === 0)
    return robotSilent(
      `no ROS 2 node found ${where}`,
      'Check that the robot’s node runs with this ROS_DOMAIN_ID on this network; see docs/drivers/ros2.md.',
    );
  if (participant.lastMismatch !== '')
    return robotSilent(
      `a topic does not match: ${participant.lastMismatch}`,
      'Check topic types, and `stateReliability` or `commandReliability`.',
    );
  if (driver.publishers > 0 && driver.lastRejection !== '')
    return robotSilent(
      `the joint states on ${stateTopic} do not match: ${driver.lastRejection}`,
      'Set `joints` to the names that the node publishes.',
    );
  const missing = driver.publishers === 0 ? `no node publishes ${stateTopic}` : `${stateTopic} is silent`;
  const text = driver.subscribers === 0 ? `no node subscribes to ${commandTopic}` : missing;
  const topics = [...participant.seenTopics.keys()].filter((topic) => topic.startsWith('rt/')).slice(0, 8);
  const seen = topics.map((topic) => topic.slice(2)).join(', ');
  return robotSilent(
    `${participant.participants} participants ${where}, but ${text}`,
    seen === '' ? 'Start the node that drives the hardware.' : `Topics found: ${seen}.`,
  );
}

const robotSilent = (message: string, hint: string): TeleopError =>
  new TeleopError('robot-silent', message, { hint });
