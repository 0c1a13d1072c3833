import type { DriverFixture } from '../driver-fixture.ts';
import { startSimProcess } from '../sim-process.ts';

/** Settings of the driver for a `farhand sim xarm6` that printed its ports. */
export function xarmOptions(ready: string): Record<string, unknown> {
  const port = (name: string): number => Number(new RegExp(`${name} (\\d+)`).exec(ready)?.[1]);
  return { host: '127.0.0.1', commandPort: port('command'), reportPort: port('report'), watchdogMs: 1000 };
}

export const startXarm = () => startSimProcess(['xarm6', '--command', '0', '--report', '0', '--normal', '0']);

const fixture: DriverFixture = {
  model: 'xarm6',
  touch: ['effort'],
  hasEstop: true,
  atOnce: 2,
  start: async () => {
    const sim = await startXarm();
    return {
      options: xarmOptions(sim.ready),
      estop: (isPressed) => sim.tell(isPressed ? 'estop' : 'release'),
      kill: sim.kill,
      stop: sim.stop,
    };
  },
};

export default fixture;
