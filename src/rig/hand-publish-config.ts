import { z } from 'zod';

const port = z.int().min(0).max(65535).default(0);

/** Ports of the ORCA document: 8088, 8089 and 15001. */
export const handPublishConfig = z.strictObject({
  host: z.ipv4().default('127.0.0.1').describe('address on which the stages of a hand are published'),
  detectorPort: port.describe('ZeroMQ port of the points as the input sent them (8088); 0: not published'),
  transformPort: port.describe('ZeroMQ port of the points as they are retargeted (8089); 0: not published'),
  viewPort: port.describe(
    'ZeroMQ port of a drawing of the hand, one JPEG per message (15001); 0: not published',
  ),
  viewHz: z.number().min(1).max(90).default(15).describe('drawings per second'),
});
