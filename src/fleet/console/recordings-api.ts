import type { FleetRecordings } from '../../messages/fleet-console.ts';
import type { FleetConnection } from '../connection.ts';
import { RecordingIndex } from '../recordings/recording-index.ts';
import type { Recording } from '../recordings.ts';
import { NO_BUCKET } from '../store/recording-service.ts';

/** Per request: every robot has its own index. */
const MOST_ROBOTS = 64;
const AT_ONCE = 8;
const MOST_RECORDINGS = 2000;

/** The known recordings of these robots, newest first. */
export async function fleetRecordings(
  connection: FleetConnection,
  robots: readonly string[],
): Promise<FleetRecordings> {
  const found: Recording[] = [];
  const without: FleetRecordings['without'] = [];
  const waiting = robots.slice(0, MOST_ROBOTS);
  const work = async () => {
    for (let robot = waiting.shift(); robot !== undefined; robot = waiting.shift())
      try {
        found.push(...(await new RecordingIndex(connection, robot).list()));
      } catch (error) {
        const { message } = error as Error;
        without.push({ robot, why: message.includes(NO_BUCKET) ? NO_BUCKET : message });
      }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  found.sort((a, b) => b.startedAt.localeCompare(a.startedAt));
  return {
    recordings: found.slice(0, MOST_RECORDINGS).map(shown),
    without: without.sort((a, b) => a.robot.localeCompare(b.robot)),
    left: Math.max(0, robots.length - MOST_ROBOTS),
  };
}

const shown = (recording: Recording): FleetRecordings['recordings'][number] => {
  const { robot, episode, sizeBytes, startedAt, durationS, task, label, atRobot, places } = recording;
  const where = [...(atRobot ? ['robot'] : []), ...places.map((place) => place.where)];
  return { robot, episode, sizeBytes, startedAt, durationS, task, label, places: where };
};
