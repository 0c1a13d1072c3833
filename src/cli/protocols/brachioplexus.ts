import { z } from 'zod';
import {
  BRACHIOPLEXUS_MAX_BYTES,
  type BrachioplexusPacket,
  decodeBrachioplexus,
  emptyBrachioplexus,
  encodeBrachioplexus,
  PACKET,
} from '../../robot/drivers/bento/brachioplexus-codec.ts';
import type { Protocol } from './contract.ts';

const LIMITS = ['shoulder', 'elbow', 'wristRotate', 'wristFlex', 'hand'] as const;

const magnitude = z.int().min(0).max(65_535);
const signed = z.int().min(-65_535).max(65_535);
const byte = z.int().min(0).max(255);
const camera = z.array(signed).length(6);
const range = z.tuple([magnitude, magnitude]);
const limits = z.strictObject({
  shoulder: range,
  elbow: range,
  wristRotate: range,
  wristFlex: range,
  hand: range,
});
const id = z.int().min(0).max(4);
const inOrder = (joints: readonly { id: number }[]): boolean => joints.every((joint, i) => joint.id === i);
const commanded = z
  .array(z.strictObject({ id, velocity: magnitude, state: byte }))
  .length(5)
  .refine(inOrder, 'ids are 0 to 4');
const reported = z
  .array(z.strictObject({ id, position: signed, velocity: magnitude, wireDegrees: z.number().optional() }))
  .length(5)
  .refine(inOrder, 'ids are 0 to 4');
const ok = z.literal(true).optional();

const json = z.discriminatedUnion('type', [
  z.strictObject({ ok, type: z.literal(0), sceneIndex: byte, frameRate: byte, cam: camera, limits }),
  z.strictObject({ ok, type: z.literal(1), joints: commanded }),
  z.strictObject({ ok, type: z.literal(2), cam: camera, limits }),
  z.strictObject({ ok, type: z.literal(3) }),
  z.strictObject({ ok, type: z.literal(4), joints: reported }),
  z.strictObject({ ok, type: z.literal(5), cam: camera }),
]);

export const brachioplexus: Protocol = {
  about: 'brachIOplexus and the Virtual Bento arm, six kinds of packet',
  decode(bytes) {
    const packet = emptyBrachioplexus();
    const reason = decodeBrachioplexus(bytes, bytes.length, packet);
    return reason === null ? { ok: true, type: packet.type, ...fieldsOf(packet) } : { ok: false, reason };
  },
  encode(value) {
    const parsed = json.safeParse(value);
    if (!parsed.success) {
      const issue = parsed.error.issues[0]!;
      return { ok: false, reason: [...issue.path, issue.message].join(': ') };
    }
    const out = new Uint8Array(BRACHIOPLEXUS_MAX_BYTES);
    return out.subarray(0, encodeBrachioplexus(packetOf(parsed.data), out));
  },
};

function fieldsOf(packet: BrachioplexusPacket): Record<string, unknown> {
  const { type, sceneIndex, frameRate, positions, speeds, states } = packet;
  const cam = [...packet.camera];
  const ranges = Object.fromEntries(
    LIMITS.map((name, i) => [name, [...packet.limits.subarray(2 * i, 2 * i + 2)]]),
  );
  if (type === PACKET.scene) return { sceneIndex, frameRate, cam, limits: ranges };
  if (type === PACKET.update) return { cam, limits: ranges };
  if (type === PACKET.cameraPosition) return { cam };
  if (type === PACKET.control)
    return { joints: [...speeds].map((velocity, i) => ({ id: i, velocity, state: states[i] })) };
  if (type === PACKET.feedback)
    return { joints: [...speeds].map((velocity, i) => ({ id: i, position: positions[i], velocity })) };
  return {};
}

function packetOf(data: z.infer<typeof json>): BrachioplexusPacket {
  const packet = emptyBrachioplexus(data.type);
  if (data.type === PACKET.scene)
    Object.assign(packet, { sceneIndex: data.sceneIndex, frameRate: data.frameRate });
  if ('cam' in data) packet.camera.set(data.cam);
  if ('limits' in data) packet.limits.set(LIMITS.flatMap((name) => data.limits[name]));
  if ('joints' in data)
    data.joints.forEach((joint, i) => {
      packet.speeds[i] = joint.velocity;
      if ('state' in joint) packet.states[i] = joint.state;
      else packet.positions[i] = joint.position;
    });
  return packet;
}
