import { z } from 'zod';
import { DEFAULT_FRAME_RATE, MAX_SPEEDS } from './arm-facts.ts';

const port = z.int().min(1).max(65535);
const speed = (joint: number) => z.int().min(1).max(MAX_SPEEDS[joint]!).default(MAX_SPEEDS[joint]!);

export const bentoConfig = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('where the Virtual Bento runs'),
  port: port.default(30004).describe('UDP: its control port'),
  listenHost: z.string().min(1).default('127.0.0.1').describe('address to receive feedback on'),
  feedbackPort: port.default(30005).describe('UDP: the port it sends feedback to'),
  scene: z
    .int()
    .min(0)
    .max(6)
    .default(1)
    .describe('scene to load on open, which resets the arm; 0: keep the current scene'),
  frameRate: z
    .int()
    .min(1)
    .max(120)
    .default(DEFAULT_FRAME_RATE)
    .describe('frames per second requested from Unity; joint speed scales with it'),
  camera: z
    .array(z.int().min(-65535).max(65535))
    .length(6)
    .default([0, 0, 0, 0, 0, 0])
    .describe('view: x, y, z in mm, Euler angles in degrees, Unity’s frame; y = 0: the scene’s own'),
  control: z
    .enum(['simultaneous', 'sequential'])
    .default('simultaneous')
    .describe('all joints at once, or one at a time: the one with the largest error first'),
  gainPerS: z.number().min(0.5).max(20).default(8).describe('joint speed per radian of error'),
  deadBandRad: z
    .number()
    .min(0.002)
    .max(0.1)
    .default(0.004)
    .describe('a joint starts moving beyond this error and rests within half of it'),
  maxSpeeds: z
    .strictObject({
      shoulder: speed(0),
      elbow: speed(1),
      wristRotate: speed(2),
      wristFlex: speed(3),
      hand: speed(4),
    })
    .prefault({})
    .describe('speed limit per joint, in brachIOplexus’ units'),
  feedbackTimeoutMs: z.int().min(50).max(2000).default(200).describe('no feedback for this long is a fault'),
  watchdogMs: z
    .int()
    .min(50)
    .max(1000)
    .default(200)
    .describe('the driver stops the arm if the control loop is silent for this long'),
  openTimeoutMs: z
    .int()
    .min(500)
    .max(60_000)
    .default(6000)
    .describe('how long to wait for the first feedback'),
});

export type BentoConfig = z.infer<typeof bentoConfig>;
