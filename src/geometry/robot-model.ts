import { z } from 'zod';

const vector = z.tuple([z.number(), z.number(), z.number()]);

/** A Denavit–Hartenberg row; its key determines the convention. */
const dhRow = z.strictObject({
  aM: z.number().describe('link length'),
  dM: z.number().describe('link offset'),
  alphaRad: z.number().describe('link twist'),
  thetaRad: z.number().default(0).describe('joint angle of the row at joint position zero'),
});

/** A frame in its parent: translation, then rotation R = Rz(yaw) Ry(pitch) Rx(roll), as in URDF. */
const placement = z.strictObject({
  xyzM: vector.default([0, 0, 0]),
  rpyRad: vector.default([0, 0, 0]),
});

const joint = z
  .strictObject({
    name: z.string(),
    minRad: z.number(),
    maxRad: z.number(),
    maxVelocityRadS: z.number().positive(),
    maxAccelerationRadS2: z.number().positive(),
    maxJerkRadS3: z.number().positive().default(1000),
    dh: dhRow.optional().describe('standard (distal): T = Rz(θ) Tz(d) Tx(a) Rx(α)'),
    modifiedDh: dhRow.optional().describe('modified (proximal, Craig): T = Rx(α) Tx(a) Rz(θ) Tz(d)'),
    origin: placement
      .optional()
      .describe('URDF style: the joint’s frame in the previous one; turns about `axis`'),
    axis: vector
      .refine((axis) => axis.some((value) => value !== 0), 'must not be zero')
      .optional()
      .describe('URDF style: axis in the joint’s own frame; default z'),
  })
  .refine(
    ({ dh, modifiedDh, origin }) =>
      [dh, modifiedDh, origin].filter((kind) => kind !== undefined).length === 1,
    'must have exactly one of dh, modifiedDh and origin',
  )
  .refine(({ minRad, maxRad }) => minRad < maxRad, 'minRad must lie below maxRad');

/** A capsule that encloses a link, in frame `frame` (0 = base … joints = flange). */
const capsule = z.strictObject({
  name: z.string(),
  frame: z.int().min(0),
  fromM: vector,
  toM: vector,
  radiusM: z.number().positive(),
});

/** One finger, joints from the palm to the tip; each joint's `origin` is in the link before it, or in the palm. */
const finger = z.strictObject({
  name: z.enum(['thumb', 'index', 'middle', 'ring', 'pinky']),
  joints: z.array(z.string()).min(2),
  tipM: vector.describe('tip point in the last link, as deep under the pad as a tracked fingertip is'),
  along: vector
    .refine((axis) => axis.some((value) => value !== 0), 'must not be zero')
    .optional()
    .describe('direction of the straight finger in the last link; default: from its joint to the tip'),
});

/** Geometry of a hand, as a right hand. The palm's frame is the maker's. */
const handGeometry = z
  .strictObject({
    wristM: vector.describe('centre of the wrist in the palm’s frame'),
    fingers: z.array(finger).min(3).describe('thumb, index, middle and any others, in this order'),
  })
  .refine(
    ({ fingers }) => ['thumb', 'index', 'middle'].every((name, i) => fingers[i]!.name === name),
    'must start with thumb, index, middle',
  );

/** Box in the base frame. */
export const boxSchema = z
  .strictObject({ minM: vector.describe('lower corner'), maxM: vector.describe('upper corner') })
  .refine(
    ({ minM, maxM }) => minM.every((low, i) => low < maxM[i]!),
    'minM must lie below maxM on every axis',
  );

/** A robot as data. Its limits are ceilings: a rig may lower them, never raise them. */
export const robotModelSchema = z
  .strictObject({
    name: z.string(),
    title: z.string(),
    family: z
      .enum(['ur', 'piper', 'serial', 'hand'])
      .describe('selects the closed-form solver; serial has none, a hand is not a chain'),
    joints: z.array(joint).min(1),
    hand: handGeometry
      .optional()
      .describe('family hand: its fingers; without it a hand has only joint limits'),
    mirrored: z.boolean().optional().describe('a left hand: the mirror image (x → −x) of `hand`'),
    tool: placement.prefault({}).describe('the flange in the last joint’s frame'),
    homeRad: z.array(z.number()).describe('resting pose, one angle per joint'),
    gripper: z.boolean().default(true),
    capsules: z.array(capsule).default([]).describe('collision shapes'),
    /**
     * Pairs of capsules, by name, that touch by design. Capsules of the same or adjacent frames always may.
     */
    mayTouch: z.array(z.tuple([z.string(), z.string()])).default([]),
    workspace: boxSchema.optional().describe('box the flange must stay in, in the base frame'),
  })
  .superRefine(({ joints, homeRad, capsules, mayTouch, hand }, context) => {
    const complain = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    if (homeRad.length !== joints.length)
      complain(['homeRad'], `must have ${joints.length} angles, one per joint`);
    joints.forEach(({ minRad, maxRad }, i) => {
      const angle = homeRad[i];
      if (angle !== undefined && (angle < minRad || angle > maxRad))
        complain(['homeRad', i], 'must lie within the limits of its joint');
    });
    capsules.forEach(({ frame }, i) => {
      if (frame > joints.length)
        complain(['capsules', i, 'frame'], `must be a frame from 0 to ${joints.length}`);
    });
    const used = (hand?.fingers ?? []).flatMap((each) => each.joints);
    used.forEach((name, i) => {
      if (joints.find((joint) => joint.name === name)?.origin === undefined)
        complain(['hand', 'fingers'], `there is no joint "${name}" with an origin`);
      if (used.indexOf(name) !== i) complain(['hand', 'fingers'], `joint "${name}" is in two places`);
    });
    mayTouch.forEach((pair, i) => {
      const unknown = pair.find((name) => !capsules.some((capsule) => capsule.name === name));
      if (unknown !== undefined) complain(['mayTouch', i], `there is no capsule "${unknown}"`);
    });
  });

export type RobotModel = z.infer<typeof robotModelSchema>;
export type JointModel = RobotModel['joints'][number];
export type HandGeometry = NonNullable<RobotModel['hand']>;
export type Capsule = RobotModel['capsules'][number];
export type Box = z.infer<typeof boxSchema>;
