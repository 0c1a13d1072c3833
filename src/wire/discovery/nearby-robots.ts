import type { NearbyRobot } from '../../messages/console.ts';
import { findRobots } from './multicast.ts';
import type { FoundRobot } from './service.ts';

const USUAL_PORTS = { commandPort: 4750, statePort: 4751, syncPort: 4752 };

/** Robots that announce themselves on the local network, and what to type to drive each. Listens for `forMs`. */
export const nearbyRobots = async (forMs: number): Promise<NearbyRobot[]> =>
  (await findRobots(forMs)).map((robot) => ({ ...robot, command: commandFor(robot) }));

function commandFor({ addresses, ...robot }: FoundRobot): string {
  const ports = Object.entries(USUAL_PORTS) as [keyof typeof USUAL_PORTS, number][];
  const other = ports
    .filter(([key, port]) => robot[key] !== port)
    .map(([key]) => ` link.${key}=${robot[key]}`);
  return `farhand operator --robot ${addresses[0]}${other.join('')}`;
}
