import { z } from 'zod';

export const xarmGripperConfig = z.strictObject({
  port: z
    .string()
    .default('')
    .describe('serial port of an RS485 adapter; empty: through the arm’s control box'),
  baudRate: z.int().min(4800).max(2_500_000).default(2_000_000).describe('of the RS485 line'),
  slave: z.int().min(1).max(247).default(8).describe('Modbus address'),
  host: z.string().default('').describe('address of the control box; empty: robot.options.host'),
  commandPort: z.int().min(1).max(65535).default(502).describe('TCP: commands of the control box'),
  speedPulseS: z.int().min(1).max(5000).default(3000).describe('speed of the fingers, as UFACTORY counts it'),
  openPulse: z.int().min(-10).max(850).default(850).describe('where it is open'),
  closedPulse: z.int().min(-10).max(850).default(0).describe('where it is closed'),
});

export type XarmGripperConfig = z.infer<typeof xarmGripperConfig>;
