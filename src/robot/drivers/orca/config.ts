import { z } from 'zod';

export const orcaConfig = z.strictObject({
  port: z.string().min(1).default('/dev/ttyUSB0').describe('serial port of the hand'),
  calibrationFile: z
    .string()
    .default('')
    .describe('made by `farhand calibrate orca`; empty: <model>.calibration.json in the working folder'),
  baudRate: z
    .union([
      z.literal(57_600),
      z.literal(1_000_000),
      z.literal(2_000_000),
      z.literal(3_000_000),
      z.literal(4_000_000),
    ])
    .nullable()
    .default(null)
    .describe('null: 3 Mbaud for v1, 1 Mbaud for v2'),
  maxCurrentMa: z
    .int()
    .min(20)
    .max(400)
    .default(400)
    .describe('current limit of a finger motor; the hand’s own ceiling (v1 400, v2 300) still applies'),
  maxMotorSpeedRadS: z
    .number()
    .min(0.2)
    .max(10)
    .default(4)
    .describe('profile velocity of the motors, a ceiling below the supervisor’s'),
  cycleHz: z.number().min(20).max(200).default(90).describe('targets out and positions in per second'),
  busWatchdogMs: z
    .int()
    .min(60)
    .max(2540)
    .default(200)
    .describe('the motors stop by themselves when the bus is silent for this long; steps of 20 ms'),
  feedbackTimeoutMs: z
    .number()
    .min(50)
    .max(1000)
    .default(180)
    .describe('no positions for this long while the motors have torque is a fault'),
  warnTemperatureC: z.number().min(30).max(80).default(60).describe('a motor this warm is a warning'),
  stopTemperatureC: z
    .number()
    .min(35)
    .max(80)
    .default(68)
    .describe('a motor this warm stops the hand; the motors shut themselves down at 70 (wrist: 80)'),
  warnVoltageV: z
    .tuple([z.number().min(0), z.number().max(30)])
    .default([10.5, 13])
    .describe('supply voltage outside this range is a warning'),
  stopVoltageV: z
    .tuple([z.number().min(0), z.number().max(30)])
    .default([9, 14])
    .describe('supply voltage outside this range stops the hand'),
  overloadMs: z
    .number()
    .min(100)
    .max(60_000)
    .default(2000)
    .describe('a finger that pushes with its full current for this long goes limp, and the others hold'),
  onStop: z
    .enum(['hold', 'release'])
    .default('hold')
    .describe('hold: keep the pose with limited current; release: go limp'),
});
export type OrcaConfig = z.infer<typeof orcaConfig>;
