import { HARDWARE_ERROR } from '../../src/robot/buses/dynamixel/control-table.ts';
import type { OrcaSimulation } from './simulation.ts';

/** Executes one control line and returns the result as text. */
export function control(simulation: OrcaSimulation, line: string): string {
  const [word = '', joint = '', value = ''] = line.trim().split(/\s+/);
  const { hand } = simulation;
  const motor = hand.motorOf(joint);
  switch (word) {
    case 'silence':
    case 'speak':
      simulation.silent = word === 'silence';
      return word;
    case 'state':
      return JSON.stringify({
        deg: Object.fromEntries(
          hand.hand.joints.map(({ name }) => [name, Math.round(hand.jointDeg(name) * 100) / 100]),
        ),
        torque: hand.motors.filter((each) => each.hasTorque).length,
        stoppedByWatchdog: hand.motors.filter((each) => each.table[98] === 0xff).length,
        failed: hand.motors.filter((each) => each.hardwareError !== 0).map((each) => each.id),
      });
    case 'overload':
      return hand.overload(joint) ? `${joint} overloaded` : `no joint "${joint}"`;
    case 'heat':
      if (motor === null || !(Number(value) >= 0 && Number(value) <= 120)) return 'use: heat JOINT DEGREES';
      motor.heat(Number(value));
      return `${joint} at ${value} °C`;
    case 'supply':
      if (!(Number(joint) > 0 && Number(joint) <= 25)) return 'use: supply VOLTS';
      for (const each of hand.motors) each.supply(Number(joint));
      return `supply ${joint} V`;
    case 'fail': {
      const flags = HARDWARE_ERROR[value as keyof typeof HARDWARE_ERROR];
      if (motor === null || flags === undefined)
        return `use: fail JOINT ${Object.keys(HARDWARE_ERROR).join('|')}`;
      motor.fail(flags);
      return `${joint}: ${value}`;
    }
    case 'block':
    case 'free':
      if (motor === null) return `no joint "${joint}"`;
      motor.blocked = word === 'block';
      return `${joint} ${word === 'block' ? 'blocked' : 'free'}`;
    case 'unplug':
    case 'plug':
      if (motor === null) return `no joint "${joint}"`;
      motor.unplugged = word === 'unplug';
      return `${joint} ${word}ged`;
    default:
      return `unknown command "${word}"`;
  }
}
