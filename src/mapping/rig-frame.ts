import { baseFromVr, compose, quatMultiply, type Transform, transform } from '../geometry/frames.ts';

const RAD_PER_DEG = Math.PI / 180;

/** Without an offset, the operator faces the same direction as the robot. */
const operatorFromVr: Transform<'operator', 'vr'> = transform(baseFromVr.positionM, baseFromVr.quatXyzw);

/** The device's world in this rig's base frame: fixed change of axes, then the rig's rotation and offset. */
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

/** Roll, pitch, yaw about the fixed axes X, Y, Z, in that order: R = Rz(yaw) Ry(pitch) Rx(roll). */
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
