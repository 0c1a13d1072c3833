import { z } from 'zod';

/** How a robot and an operator of a fleet find each other; docs/fleet.md. */
export const fleetConfig = z.strictObject({
  iceServers: z
    .array(z.string().regex(/^(stun|turn):[\w.-]+:\d{1,5}$/))
    .default([])
    .describe('robot: STUN and TURN servers for both ends, as stun:HOST:PORT or turn:HOST:PORT'),
  turnSecretFile: z
    .string()
    .default('')
    .describe('robot: file with the secret that it shares with the TURN servers'),
  turnHours: z
    .number()
    .min(0.01)
    .max(168)
    .default(12)
    .describe('robot: how long the TURN credentials of a session are good'),
  plainBeyondLoopback: z
    .boolean()
    .default(false)
    .describe(
      'lets a broker on another machine be used without TLS, for everyone on the way to read and change',
    ),
  robot: z
    .string()
    .max(63)
    .default('')
    .describe('its name in the fleet; set by the session, and kept in recordings'),
  recordings: z
    .enum(['announce', 'push', 'off'])
    .default('announce')
    .describe('what happens by itself with recordings of a robot of the fleet; push: stored there, too'),
  pushMbitS: z
    .number()
    .min(0.1)
    .max(10_000)
    .default(8)
    .describe('how fast they are stored: the way there may be the one that commands take'),
  deleteAfterPush: z
    .boolean()
    .default(false)
    .describe('deletes a recording here that was stored by itself, after all its bytes were read back'),
  relayOnly: z
    .boolean()
    .default(false)
    .describe('no way to the other end but by TURN servers; it is told no address of this machine'),
  rtcAddress: z
    .string()
    .default('')
    .describe('the only address of this machine for peer connections; empty: all of them'),
  audio: z
    .string()
    .regex(
      /^(test|(alsa|pulse):[A-Za-z0-9][\w.:,=@+-]{0,127})?$/,
      'write alsa:DEVICE, pulse:SOURCE or test, or leave it empty',
    )
    .default('')
    .describe('robot: sound for who drives it, as alsa:DEVICE or pulse:SOURCE; test: a tone; empty: none'),
});

export type FleetConfig = z.infer<typeof fleetConfig>;
