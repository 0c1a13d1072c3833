import { baseFromVr, compose, quatMultiply, type Transform, transform } from '../geometry/frames.ts';

const RAD_PER_DEG = Math.PI / 180;

/** With no offset set, the operator faces the way the robot does. */
const operatorFromVr: Transform<'operator', 'vr'> = transform(baseFromVr.positionM, baseFromVr.quatXyzw);

/** The device's world in this rig's base frame: axes by facts, then the rig's own turn and shift. */
export function rigFrame(
  rotationOffsetDeg: readonly number[],
  positionOffsetM: readonly number[],
): Transform<'base', 'vr'> {
  const baseFromOperator: Transform<'base', 'operator'> = transform(
    Float64Array.from(positionOffsetM),
    quatFromRpyDeg(rotationOffsetDeg),
  );
  return compose(baseFromOperator, operatorFromVr);
}

/** Roll, pitch, yaw about the fixed axes X, Y, Z, in this order: R = Rz(yaw) Ry(pitch) Rx(roll). */
export function quatFromRpyDeg(rpyDeg: readonly number[]): Float64Array {
  const out = Float64Array.of(0, 0, 0, 1);
  for (let axis = 0; axis < 3; axis++) {
    const halfRad = (rpyDeg[axis]! * RAD_PER_DEG) / 2;
    const about = Float64Array.of(0, 0, 0, Math.cos(halfRad));
    about[axis] = Math.sin(halfRad);
    quatMultiply(about, out, out);
  }
  return out;
}
