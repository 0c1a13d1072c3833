import { z } from 'zod';
import { SOUND_DEVICE, SOUND_DEVICE_FORM } from '../messages/sound-device.ts';

/** `record` of a rig. */
export const recordConfig = z.strictObject({
  dir: z.string().min(1).default('recordings').describe('folder of the recordings'),
  task: z.string().max(400).default('').describe('task description, stored in every episode'),
  start: z
    .enum(['asked', 'engage'])
    .default('asked')
    .describe('when an episode starts: on request, or whenever the robot engages'),
  staleMs: z
    .number()
    .min(1)
    .max(10_000)
    .default(150)
    .describe('a frame older than this at the time of a row is kept and flagged'),
  missingMs: z
    .number()
    .min(1)
    .max(60_000)
    .default(1000)
    .describe('a frame older than this counts as missing: the row is skipped'),
  minFreeMb: z
    .number()
    .min(0)
    .default(50)
    .describe('recording stops and is saved when the disk has less free space; 0: when it is full'),
  video: z
    .enum(['jpeg', 'h264'])
    .default('jpeg')
    .describe('how pictures are stored: as they arrive, or as H.264, much smaller; h264 needs ffmpeg'),
  videoCrf: z
    .int()
    .min(10)
    .max(40)
    .default(23)
    .describe('h264: x264’s constant rate factor; lower is better and larger'),
  sound: z
    .string()
    .regex(SOUND_DEVICE, SOUND_DEVICE_FORM)
    .default('')
    .describe('records this microphone of the operator’s machine: alsa:DEVICE or pulse:SOURCE; test: a tone'),
  soundHz: z
    .union([z.literal(16_000), z.literal(48_000)])
    .default(16_000)
    .describe('samples of sound per second'),
  limits: z
    .string()
    .default('')
    .describe('YAML file of quality limits; an episode that violates them goes to the folder refused/'),
});
