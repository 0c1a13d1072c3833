import type { Fault } from './fault.ts';
import type { Measured } from './measure.ts';

/** Targets may use all of a limit; anything beyond this is more than rounding. */
const FULL = 1.001;

/** Deviations from docs/SAFETY.md; empty if the fault passes. */
export function complaintsAbout({ expected }: Fault, found: Measured): string[] {
  const complaints: string[] = [];
  const complain = (isWrong: boolean, text: string) => {
    if (isWrong) complaints.push(text);
  };
  for (const state of expected.through ?? [])
    complain(!found.states.includes(state), `did not go through ${state}`);
  complain(
    !(expected.ends as readonly string[]).includes(found.end),
    `ended ${found.end} (${found.cause}), not ${expected.ends.join(' or ')}`,
  );
  if (expected.restMs !== null && found.restMs !== null)
    complain(
      found.restMs > expected.restMs,
      `moved for ${Math.round(found.restMs)} ms, not ${expected.restMs}`,
    );
  const { velocity, acceleration, jerk, outsideRad } = found.shares;
  for (const [name, share] of Object.entries({ velocity, acceleration, jerk }))
    complain(!(share <= FULL), `${name} of the targets ${share.toFixed(2)} × its limit`);
  complain(outsideRad > 1e-9, `target ${outsideRad.toFixed(4)} rad outside its range`);
  complain(found.targets === 0, 'the driver received no target');
  complain(expected.message !== null && found.message === '', `no message like ${expected.message}`);
  const { lostMs = 0 } = expected;
  complain(found.lost.lines > 0 && lostMs === 0, `${found.lost.lines} trace lines lost`);
  complain(
    found.lost.tailMs > lostMs,
    `trace ends ${Math.round(found.lost.tailMs)} ms before the operator did`,
  );
  return complaints;
}
