import { z } from 'zod';
import { splitHostPort } from '../core/ip-address.ts';

/** Default time after which a camera's last picture counts as stale. */
export const STALE_AFTER_MS = 1000;

const camera = z.strictObject({
  source: z.string().default('test-pattern').describe('source: a file in src/camera/sources/'),
  fpsHz: z.number().min(0.1).max(120).default(30).describe('pictures per second'),
  widthPx: z.int().min(16).max(4096).default(640).describe('width before any resizing'),
  heightPx: z.int().min(16).max(4096).default(480).describe('height before any resizing'),
  quality: z.int().min(1).max(100).default(75).describe('JPEG quality of pictures that are encoded here'),
  resizeToThird: z.boolean().default(false).describe('send a third of the width and height'),
  gripperBar: z.boolean().default(false).describe('draw the gripper’s position while it moves'),
  options: z.record(z.string(), z.unknown()).default({}).describe('settings of the source'),
});

/** `cameras` of a rig. */
export const camerasConfig = z
  .strictObject({
    host: z.string().default('').describe('where receivers find the cameras; empty: link.robotHost'),
    listenHost: z.string().default('').describe('address the cameras send from; empty: link.listenHost'),
    port: z
      .int()
      .min(0)
      .max(65_000)
      .default(4753)
      .describe(
        'zmq: TCP port of all cameras; udp: port of the first camera, plus one for each further camera',
      ),
    wire: z.enum(['zmq', 'udp']).default('zmq').describe('ZeroMQ PUB/SUB, or JPEG slices over UDP'),
    sliceOrder: z.enum(['little', 'big']).default('little').describe('udp: byte order of frame numbers sent'),
    firstSection: z.int().min(0).max(1).default(0).describe('udp: number of the first slice sent'),
    receivePort: z
      .int()
      .min(0)
      .max(65_000)
      .default(0)
      .describe('udp: first port to listen on for a sender that needs no request; 0: send requests'),
    sendTo: z
      .array(
        z.string().refine((text) => splitHostPort(text)?.host != null, 'write HOST:PORT or [ADDRESS]:PORT'),
      )
      .default([])
      .describe('udp: receivers that send no requests; further cameras use the following ports'),
    security: z
      .enum(['link', 'plain'])
      .default('link')
      .describe('link: encrypt pictures over ZeroMQ whenever commands are encrypted; plain: never encrypt'),
    plainBeyondLoopback: z
      .boolean()
      .default(false)
      .describe('let pictures leave this machine unencrypted (udp, or an unpaired link)'),
    staleAfterMs: z
      .number()
      .min(1)
      .max(60_000)
      .default(STALE_AFTER_MS)
      .describe('silence after which a camera’s last picture is shown as stale'),
    stereo: z
      .union([z.tuple([]), z.tuple([z.string(), z.string()])])
      .default([])
      .describe('names of the left and the right camera of a stereo pair of equal size; none by default'),
    list: z
      .record(z.string().regex(/^[A-Za-z][\w-]{0,31}$/), camera)
      .default({})
      .describe('cameras by name; none by default'),
  })
  .refine(
    ({ wire, list }) => wire === 'zmq' || Object.values(list).every(({ options }) => !options['depth']),
    {
      path: ['wire'],
      message: 'distances (options.depth) need cameras.wire=zmq',
    },
  )
  .refine(({ stereo, list }) => stereo.every((name) => name in list), {
    path: ['stereo'],
    message: 'name two cameras of cameras.list',
  });

export type CameraConfig = z.infer<typeof camera>;
export type CamerasConfig = z.infer<typeof camerasConfig>;
