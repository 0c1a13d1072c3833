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
  relayOnly: z
    .boolean()
    .default(false)
    .describe('tells the other end no address of this machine, only those of TURN servers'),
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
