import { z } from 'zod';

const count = z.int().min(0).max(255);
const percent = z.number().min(0).max(100);

export const robotiqConfig = z.strictObject({
  port: z
    .string()
    .default('')
    .describe('serial port for Modbus RTU; empty: the socket of Robotiq’s URCap on the arm’s controller'),
  baudRate: z.int().min(9600).max(115200).default(115200).describe('of the serial port'),
  slave: z.int().min(1).max(247).default(9).describe('Modbus address'),
  host: z.string().default('').describe('address of the URCap’s socket; empty: robot.options.host'),
  socketPort: z.int().min(1).max(65535).default(63352).describe('TCP: the URCap’s socket'),
  activate: z
    .boolean()
    .default(false)
    .describe('activates the gripper if it is not: its fingers close and open once'),
  speedPercent: percent.default(100).describe('speed of the fingers'),
  forcePercent: percent.default(40).describe('force of the grip'),
  openCount: count.default(3).describe('count reported when open'),
  closedCount: count.default(228).describe('count reported when closed on nothing'),
});

export type RobotiqConfig = z.infer<typeof robotiqConfig>;
