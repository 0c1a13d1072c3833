import { z } from 'zod';
import { DEFAULT_FRAME_RATE, MAX_SPEEDS } from './arm-facts.ts';

const port = z.int().min(1).max(65535);
const speed = (joint: number) => z.int().min(1).max(MAX_SPEEDS[joint]!).default(MAX_SPEEDS[joint]!);

export const bentoConfig = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('where the Virtual Bento runs'),
  port: port.default(30004).describe('UDP: its port for control'),
  listenHost: z.string().min(1).default('127.0.0.1').describe('address on which feedback is awaited'),
  feedbackPort: port.default(30005).describe('UDP: where it sends its feedback'),
  scene: z
    .int()
    .min(0)
    .max(6)
    .default(1)
    .describe('scene to load when opening, which puts the arm at its start; 0: leave the one that runs'),
  frameRate: z
    .int()
    .min(1)
    .max(120)
    .default(DEFAULT_FRAME_RATE)
    .describe('frames per second asked of Unity; joint speed grows with it'),
  camera: z
    .array(z.int().min(-65535).max(65535))
    .length(6)
    .default([0, 0, 0, 0, 0, 0])
    .describe('view: x, y, z in mm, Euler angles in degrees, Unity’s frame; y = 0: the scene’s own'),
  control: z
    .enum(['simultaneous', 'sequential'])
    .default('simultaneous')
    .describe('all joints at once, or one at a time: the farthest off until it has arrived'),
  gainPerS: z.number().min(0.5).max(20).default(8).describe('joint speed per radian of error'),
  deadBandRad: z
    .number()
    .min(0.002)
    .max(0.1)
    .default(0.004)
    .describe('a joint moves beyond this error and rests within half of it'),
  maxSpeeds: z
    .strictObject({
      shoulder: speed(0),
      elbow: speed(1),
      wristRotate: speed(2),
      wristFlex: speed(3),
      hand: speed(4),
    })
    .prefault({})
    .describe('fastest per joint, in brachIOplexus’ units'),
  feedbackTimeoutMs: z
    .int()
    .min(50)
    .max(2000)
    .default(200)
    .describe('feedback silent for this long: a fault'),
  watchdogMs: z
    .int()
    .min(50)
    .max(1000)
    .default(200)
    .describe('control loop silent for this long: the driver stops the arm'),
  openTimeoutMs: z.int().min(500).max(60_000).default(6000).describe('how long to wait for a first feedback'),
});

export type BentoConfig = z.infer<typeof bentoConfig>;
