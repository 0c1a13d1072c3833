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
    throw new TeleopError('bad-config', `\`joints\` needs ${model.joints.length} different names`, {
      hint: 'Give one name per joint of the model, in the order of the command, or none at all.',
    });
  const driver = await Ros2JointsDriver.connect(config, joints, clock);
  const isThere = () => driver.feedback.receivedNs > Number.NEGATIVE_INFINITY && driver.subscribers > 0;
  if (await driver.node.until(isThere, config.connectTimeoutMs)) return driver;
  const error = silence(driver, config);
  driver.dispose();
  throw error;
}

/** Why nothing came, as far as can be told from here. */
function silence(driver: Ros2JointsDriver, config: Ros2JointsConfig): TeleopError {
  const { participant } = driver.node;
  const { domainId, interfaceAddress, stateTopic, commandTopic } = config;
  const where = `in domain ${domainId} on ${interfaceAddress}`;
  if (participant.participants === 0)
    return robotSilent(
      `no ROS 2 node was heard ${where}`,
      'Is the robot’s node running, with this ROS_DOMAIN_ID and on this network? See docs/drivers/ros2.md.',
    );
  if (participant.lastMismatch !== '')
    return robotSilent(
      `a topic does not fit: ${participant.lastMismatch}`,
      'Check topic types, and `stateReliability` or `commandReliability`.',
    );
  if (driver.publishers > 0 && driver.lastRefusal !== '')
    return robotSilent(
      `the joint states on ${stateTopic} do not fit: ${driver.lastRefusal}`,
      'Set `joints` to the names that the node publishes.',
    );
  const missing = driver.publishers === 0 ? `nobody publishes ${stateTopic}` : `${stateTopic} is silent`;
  const text = driver.subscribers === 0 ? `nobody subscribes to ${commandTopic}` : missing;
  const topics = [...participant.seenTopics.keys()].filter((topic) => topic.startsWith('rt/')).slice(0, 8);
  const seen = topics.map((topic) => topic.slice(2)).join(', ');
  return robotSilent(
    `${participant.participants} participants ${where}, but ${text}`,
    seen === '' ? 'Start the node that drives the hardware.' : `Topics there: ${seen}.`,
  );
}

const robotSilent = (message: string, hint: string): TeleopError =>
  new TeleopError('robot-silent', message, { hint });
