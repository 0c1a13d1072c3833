import { z } from 'zod';

export const so101Config = z.strictObject({
  port: z.string().min(1).default('/dev/ttyACM0').describe('serial port of the servo adapter'),
  baudRate: z.int().min(38_400).max(1_000_000).default(1_000_000).describe('of the servos'),
  calibrationFile: z
    .string()
    .default('')
    .describe('LeRobot’s calibration; the servos must have the same. Empty: as stored in the servos'),
  p: z.int().min(1).max(64).default(16).describe('stiffness of the joints: P of their position loop'),
  d: z.int().min(0).max(64).default(32).describe('damping: D of their position loop'),
  gripperTorquePercent: z.number().min(5).max(100).default(50).describe('most torque of the gripper'),
  maxTemperatureC: z.int().min(40).max(75).default(65).describe('a hotter servo is a fault'),
  releaseAtEnd: z.boolean().default(false).describe('lets the arm sink when the process ends'),
});

export type So101Config = z.infer<typeof so101Config>;
