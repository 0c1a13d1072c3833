import { z } from 'zod';

const port = z.int().min(1).max(65535);

export const urConfig = z.strictObject({
  host: z.string().min(1).default('192.168.0.100').describe('address of the controller'),
  series: z.enum(['cb3', 'e']).default('cb3').describe('cb3: 125 Hz; e: e-Series, 500 Hz'),
  rtdePort: port.default(30004).describe('TCP: state of the controller'),
  dashboardPort: port.default(29999).describe('TCP: power, brakes, protective stop'),
  scriptPort: port.default(30002).describe('TCP: secondary interface, receives the control program'),
  reverseHost: z
    .string()
    .regex(/^[\w.:-]*$/)
    .default('')
    .describe('address of this computer as the robot sees it; empty: the address of the RTDE connection'),
  reversePort: z
    .int()
    .min(0)
    .max(65535)
    .default(50001)
    .describe('TCP: where the control program connects; 0 picks a free port'),
  watchdogMs: z
    .int()
    .min(20)
    .max(200)
    .default(100)
    .describe('no setpoint for this long: the control program stops the robot'),
  lookaheadS: z.number().min(0.03).max(0.2).default(0.1).describe('servoj: smoothing time, added as delay'),
  gain: z.number().min(100).max(2000).default(300).describe('servoj: tracking stiffness'),
  stopRadS2: z.number().min(1).max(20).default(10).describe('deceleration of a stop'),
  extrapolateMs: z
    .number()
    .min(0)
    .max(40)
    .default(20)
    .describe('longest extrapolation while setpoints are missing'),
  powerOn: z
    .boolean()
    .default(true)
    .describe('arming powers the robot on and releases its brakes; false: do it at the pendant'),
  gripper: z
    .enum(['none', 'tool-output'])
    .default('none')
    .describe('none: the gripper value is ignored; tool-output: a digital output of the tool'),
  torquePerCurrentNmA: z
    .array(z.number().min(0).max(100))
    .length(6)
    .nullable()
    .default(null)
    .describe('joint torque per motor current, by joint, to report efforts; null: not known'),
  minToolForceN: z
    .number()
    .min(0)
    .max(100)
    .default(12)
    .describe(
      'a smaller force on the tool counts as none: the controller’s estimate errs by about this much',
    ),
  toolOutput: z.int().min(0).max(1).default(0).describe('which output closes the gripper'),
});
export type UrConfig = z.infer<typeof urConfig>;

export const STEP_S = { cb3: 0.008, e: 0.002 } as const;
export const RTDE_HZ = { cb3: 125, e: 500 } as const;
/** RTDE's major version of each series' controller software. */
export const MAJOR_VERSION = { cb3: 3, e: 5 } as const;
/** Larger steps of a joint are rejected, as in the vendor's client. */
export const MAX_STEP_RAD_S = 20;
