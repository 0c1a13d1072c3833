import { z } from 'zod';
import { SOUND_DEVICE, SOUND_DEVICE_FORM } from '../messages/sound-device.ts';

/** How a robot and an operator of a fleet find each other; docs/fleet.md. */
export const fleetConfig = z.strictObject({
  iceServers: z
    .array(z.string().regex(/^(stun|turn):[\w.-]+:\d{1,5}$/))
    .default([])
    .describe('robot: STUN and TURN servers for both ends, as stun:HOST:PORT or turn:HOST:PORT'),
  turnSecretFile: z.string().default('').describe('robot: file with the secret shared with the TURN servers'),
  turnHours: z
    .number()
    .min(0.01)
    .max(168)
    .default(12)
    .describe('robot: how long the TURN credentials of a session are valid'),
  plainBeyondLoopback: z
    .boolean()
    .default(false)
    .describe(
      'allows a broker on another machine without TLS: anyone on the network can read and change the traffic',
    ),
  robot: z
    .string()
    .max(95)
    .default('')
    .describe('its name in the fleet; set by the session and stored in recordings'),
  recordings: z
    .enum(['announce', 'push', 'off'])
    .default('announce')
    .describe('what happens automatically to recordings of a fleet robot; push: also stored in the fleet'),
  pushMbitS: z
    .number()
    .min(0.1)
    .max(10_000)
    .default(8)
    .describe('upload rate limit: uploads may share the network path of commands'),
  deleteAfterPush: z
    .boolean()
    .default(false)
    .describe(
      'deletes the local copy of an automatically stored recording once all its bytes were read back',
    ),
  leaseTermS: z
    .number()
    .min(5)
    .max(60)
    .default(30)
    .describe(
      'robot: how long it obeys its driver without a renewed lease, for example while the broker is down',
    ),
  relayOnly: z
    .boolean()
    .default(false)
    .describe('connects only through TURN servers; the other end learns no address of this machine'),
  rtcAddress: z
    .string()
    .default('')
    .describe('the only local address to use for peer connections; empty: all'),
  video: z
    .enum(['jpeg', 'h264'])
    .default('jpeg')
    .describe(
      'robot: pictures for a page that drives it; h264 needs ffmpeg and falls back to jpeg for a page without it',
    ),
  videoKbitS: z
    .int()
    .min(150)
    .max(20_000)
    .default(2000)
    .describe('robot: most bits per second of one camera as H.264; a slower path gets fewer'),
  audio: z
    .string()
    .regex(SOUND_DEVICE, SOUND_DEVICE_FORM)
    .default('')
    .describe('robot: audio for the operator, as alsa:DEVICE or pulse:SOURCE; test: a tone; empty: none'),
});

export type FleetConfig = z.infer<typeof fleetConfig>;
