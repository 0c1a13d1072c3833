import { z } from 'zod';
import {
  decodeRctp,
  emptyRctp,
  encodeRctp,
  RCTP_BYTES,
  RCTP_RIGHT_PORT,
} from '../../input/codecs/rctp-codec.ts';
import type { Protocol } from './contract.ts';

const json = z.strictObject({
  ok: z.literal(true).optional(),
  timestampS: z.number(),
  positionM: z.array(z.number()).length(3),
  quatXyzw: z.array(z.number()).length(4),
  gripper: z.number(),
  tracking: z.boolean().default(true),
  estop: z.boolean().default(false),
  arm: z.boolean().default(false),
  reset: z.boolean().default(false),
});

const TURN_S = 8;

export const rctp: Protocol = {
  about: 'one hand of a headset, 45 bytes',
  decode(bytes) {
    const packet = emptyRctp();
    const reason = decodeRctp(bytes, bytes.length, packet);
    if (reason !== null) return { ok: false, reason };
    const { timestampS, gripper, tracking, estop, arm, reset } = packet;
    const [positionM, quatXyzw] = [[...packet.positionM], [...packet.quatXyzw]];
    // Flags that are not the protocol's only where they are set.
    const ours = { ...(arm && { arm }), ...(reset && { reset }) };
    return { ok: true, timestampS, positionM, quatXyzw, gripper, tracking, estop, ...ours };
  },
  encode(value) {
    const parsed = json.safeParse(value);
    if (!parsed.success) {
      const issue = parsed.error.issues[0]!;
      return { ok: false, reason: [...issue.path, issue.message].join(': ') };
    }
    const packet = { ...emptyRctp(), ...parsed.data, ...vectors(parsed.data) };
    const bytes = new Uint8Array(RCTP_BYTES);
    encodeRctp(packet, bytes);
    // Decode it again to reject what a receiver would: a float64 may not fit, a quaternion may be zero.
    const reason = decodeRctp(bytes, bytes.length, emptyRctp());
    return reason === null ? bytes : { ok: false, reason };
  },
  sender: { port: RCTP_RIGHT_PORT, hz: 50, figure8 },
};

const vectors = ({ positionM, quatXyzw }: z.infer<typeof json>) => ({
  positionM: Float64Array.from(positionM),
  quatXyzw: Float64Array.from(quatXyzw),
});

function figure8(atS: number): Record<string, unknown> {
  const phase = (2 * Math.PI * atS) / TURN_S;
  const half = 0.3 * Math.sin(phase / 2);
  return {
    timestampS: atS,
    positionM: [0.1 * Math.sin(phase), 1.2 + 0.06 * Math.sin(2 * phase), -0.3],
    quatXyzw: [0, 0, Math.sin(half), Math.cos(half)],
    gripper: 0.5 + 0.5 * Math.cos(phase),
    tracking: true,
    estop: false,
  };
}
