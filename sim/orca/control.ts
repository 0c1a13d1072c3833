import type { OrcaSimulation } from './simulation.ts';

/** Executes one control line and returns the result as text. */
export function control(simulation: OrcaSimulation, line: string): string {
  const [word = '', joint = ''] = line.trim().split(/\s+/);
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
    case 'unplug':
    case 'plug':
      if (motor === null) return `no joint "${joint}"`;
      motor.unplugged = word === 'unplug';
      return `${joint} ${word}ged`;
    default:
      return `unknown command "${word}"`;
  }
}
