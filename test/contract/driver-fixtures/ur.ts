import type { DriverFixture } from '../driver-fixture.ts';
import { startSimProcess } from '../sim-process.ts';

/** Settings of the driver for a `farhand sim ur` that printed its ports. */
export function urOptions(ready: string, series: 'cb3' | 'e'): Record<string, unknown> {
  const port = (name: string): number => Number(new RegExp(`${name} (\\d+)`).exec(ready)?.[1]);
  return {
    host: '127.0.0.1',
    series,
    rtdePort: port('rtde'),
    dashboardPort: port('dashboard'),
    scriptPort: port('script'),
    reversePort: 0,
    // The maximum: this machine may be busy with other tests.
    watchdogMs: 200,
  };
}

export const startUr = (series: 'cb3' | 'e') =>
  startSimProcess(['ur', '--series', series, '--rtde', '0', '--dashboard', '0', '--script', '0']);

const fixture: DriverFixture = {
  model: 'ur3',
  touch: ['effort', 'external'],
  hasEstop: true,
  atOnce: 2,
  start: async () => {
    const sim = await startUr('cb3');
    return {
      options: { ...urOptions(sim.ready, 'cb3'), torquePerCurrentNmA: [9, 9, 9, 4, 4, 4] },
      estop: (isPressed) => sim.tell(isPressed ? 'estop' : 'release'),
      kill: sim.kill,
      stop: sim.stop,
    };
  },
};

export default fixture;
