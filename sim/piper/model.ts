import { type RobotModel, robotModelSchema } from '../../src/geometry/robot-model.ts';

const rad = (deg: number): number => (deg * Math.PI) / 180;

/**
 * The arm as its vendor describes it: modified DH; joints 2 and 3 have another zero before firmware 1.6-3.
 */
export function piperModel(firmware: 'new' | 'old'): RobotModel {
  const [zero2Deg, zero3Deg] = firmware === 'new' ? [-172.22, -102.78] : [-174.22, -100.78];
  const joint = (
    i: number,
    [minDeg, maxDeg]: [number, number],
    [alphaDeg, aM, dM, thetaDeg]: [number, number, number, number],
  ) => ({
    name: `joint${i}`,
    minRad: rad(minDeg),
    maxRad: rad(maxDeg),
    maxVelocityRadS: 3,
    maxAccelerationRadS2: 5,
    modifiedDh: { alphaRad: rad(alphaDeg), aM, dM, thetaRad: rad(thetaDeg) },
  });
  return robotModelSchema.parse({
    name: firmware === 'new' ? 'piper' : 'piper-old',
    title: 'AgileX Piper',
    family: 'piper',
    homeRad: [0, 0, 0, 0, 0, 0],
    joints: [
      joint(1, [-150, 150], [0, 0, 0.123, 0]),
      joint(2, [0, 180], [-90, 0, 0, zero2Deg]),
      joint(3, [-170, 0], [0, 0.28503, 0, zero3Deg]),
      joint(4, [-100, 100], [90, -0.02198, 0.25075, 0]),
      joint(5, [-70, 70], [-90, 0, 0, 0]),
      joint(6, [-120, 120], [90, 0, 0.091, 0]),
    ],
  });
}
