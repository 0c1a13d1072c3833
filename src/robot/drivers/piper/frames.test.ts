import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { TeleopError } from '../../../core/errors.ts';
import { robotModelSchema } from '../../../geometry/robot-model.ts';
import { type CanFrame, frameText, parseFrameText } from '../../buses/can-frame.ts';
import { controlFault, driverFault, statusFault } from './faults.ts';
import { PiperFeedback } from './feedback.ts';
import {
  enableFrame,
  firmwareQueryFrame,
  followerFrame,
  ID,
  modeFrame,
  piperFrame,
  resumeFrame,
  rpyFromQuat,
  setGripper,
  setJoints,
  setPose,
  stopFrame,
  tripleFrames,
} from './frames.ts';
import { checkVariant, flangeChain, variantOfFirmware, variantOfModel } from './geometry.ts';

type Input = Record<string, number> & { rad?: number[]; deg?: number[]; enable?: boolean };
interface Vector {
  name: string;
  direction: 'encode' | 'decode';
  input: Input;
  expected_hex: string;
}
const vectors = JSON.parse(readFileSync('test/data/drivers/piper.json', 'utf8')) as Vector[];
const rad = (deg: number): number => (deg * Math.PI) / 180;
const near = (actual: number, expected: number, by = 1e-9) =>
  assert.ok(Math.abs(actual - expected) <= by, `${actual} is not ${expected}`);

/** Encodes a vector with our codec; null for frames that we do not use. */
function encoded(name: string, input: Input, id: number): CanFrame | null {
  if (id === ID.enable) return enableFrame(input.enable === true, input['motor']);
  if (id === ID.mode)
    return input['ctrl_mode'] === 1
      ? modeFrame(input['move_mode']!, input['speed_pct']!, input['mit']!)
      : null;
  if (id === ID.stop) return input['emergency_stop'] === 1 ? stopFrame() : resumeFrame();
  if (id >= ID.joints && id < ID.joints + 3) {
    const frames = tripleFrames(ID.joints);
    const at = 2 * (id - ID.joints);
    const joints = new Float64Array(6);
    joints.set(input.rad ?? input.deg!.map(rad), input.rad ? 0 : at);
    setJoints(frames, joints);
    return frames[id - ID.joints]!;
  }
  if (id >= ID.pose && id < ID.pose + 3) {
    const frames = tripleFrames(ID.pose);
    const positionM = ['x_mm', 'y_mm', 'z_mm'].map((key) => input[key]! / 1000);
    setPose(
      frames,
      positionM,
      ['rx_deg', 'ry_deg', 'rz_deg'].map((key) => rad(input[key]!)),
    );
    return frames[id - ID.pose]!;
  }
  if (id === ID.gripper && name !== 'gripper_set_zero') {
    const frame = piperFrame(ID.gripper);
    setGripper(frame, input['stroke_mm']! / 1000, input['torque_Nm']!, input['code']!);
    return frame;
  }
  if (id === ID.role) return followerFrame();
  if (id === ID.firmware) return firmwareQueryFrame();
  return null;
}

describe('Piper frames', () => {
  let checked = 0;
  for (const { name, direction, input, expected_hex } of vectors.filter((v) => v.direction === 'encode'))
    it(`${direction} ${name}`, () => {
      const frame = encoded(name, input, parseFrameText(expected_hex)!.id);
      if (frame === null) return;
      checked++;
      assert.equal(frameText(frame), expected_hex);
    });
  it('are all compared except the eight we never send', () => {
    assert.equal(checked, vectors.filter((v) => v.direction === 'encode').length - 8);
  });

  const taken = (name: string): PiperFeedback => {
    const feedback = new PiperFeedback();
    feedback.take(parseFrameText(vectors.find((v) => v.name === name)!.expected_hex)!, 5);
    return feedback;
  };
  it('decode: status', () => {
    assert.equal(statusFault(taken('fb_status_normal_can_moveJ')), '');
    const wrong = taken('fb_status_err');
    assert.equal(wrong.limitBits, 0b10010);
    assert.equal(wrong.commBits, 1);
    assert.equal(wrong.reached, false);
    assert.equal(statusFault(wrong), 'the target exceeds the arm’s angle limits (joint 2, 5)');
    assert.equal(controlFault(wrong), '');
  });
  it('decode: joints, pose, gripper, speeds, drivers', () => {
    const joints = taken('fb_joint_12');
    near(joints.positionsRad[0]!, rad(-12.345));
    near(joints.positionsRad[1]!, rad(90));
    assert.equal(joints.jointsNs, Number.NEGATIVE_INFINITY, 'two of three frames are missing');
    const pose = taken('fb_end_pose_1');
    near(pose.poseM[0]!, 0.056128);
    near(pose.poseM[1]!, -1e-6);
    const gripper = taken('fb_gripper');
    near(gripper.gripperM, 0.0352);
    near(gripper.gripperNm, -0.25);
    assert.equal(gripper.gripperFlags, 0xc0);
    const high = taken('fb_high_speed_j1');
    near(high.velocitiesRadS[0]!, -0.5);
    near(high.currentsA[0]!, 1.2);
    const low = taken('fb_low_speed_j1');
    assert.deepEqual([low.busV[0], low.driverC[0], low.motorC[0], low.driverFlags[0]], [24.1, 41, 38, 0x40]);
    assert.equal(driverFault(low, false), '');
    assert.equal(driverFault(low, true), 'joint 2 lost its power');
  });

  it('decodes the joints it encodes, to half a millidegree', () => {
    const angles = fc.float64Array({ minLength: 6, maxLength: 6, min: -6.28, max: 6.28, noNaN: true });
    fc.assert(
      fc.property(angles, (positionsRad) => {
        const frames = tripleFrames(ID.joints);
        setJoints(frames, positionsRad);
        const feedback = new PiperFeedback();
        for (const [i, frame] of frames.entries()) feedback.take({ ...frame, id: ID.jointFeedback + i }, 7);
        assert.equal(feedback.jointsNs, 7);
        for (const [i, value] of positionsRad.entries()) near(feedback.positionsRad[i]!, value, rad(0.00051));
      }),
    );
  });

  it('rejects frames that no Piper can have sent', () => {
    const feedback = new PiperFeedback();
    const wrong = [
      '2A5#7FFFFFFF00000000',
      '2A5#00',
      '2A8#7FFFFFFF00000000',
      '251#7FFF000000000000',
      '2A2#7FFFFFFF00000000',
    ];
    for (const text of wrong) feedback.take(parseFrameText(text)!, 1);
    assert.equal(feedback.rejected, wrong.length);
    assert.ok(
      [...feedback.positionsRad, feedback.gripperM, ...feedback.velocitiesRadS].every((x) => x === 0),
    );
    fc.assert(
      fc.property(
        fc.nat(0x7ff),
        fc.nat(8),
        fc.uint8Array({ minLength: 8, maxLength: 8 }),
        (id, length, data) => {
          const frame = piperFrame(id);
          frame.length = length;
          frame.data.set(data);
          feedback.take(frame, 1);
          assert.ok([...feedback.positionsRad].every((x) => Math.abs(x) <= 2 * Math.PI));
        },
      ),
    );
  });
});

describe('Piper geometry', () => {
  const model = robotModelSchema.parse(parse(readFileSync('robots/piper.yaml', 'utf8')));
  const old = structuredClone(model);
  old.joints[1]!.modifiedDh!.thetaRad = rad(-174.22);
  old.joints[2]!.modifiedDh!.thetaRad = rad(-100.78);

  it('matches the vendor’s flange position and angles', () => {
    const chain = flangeChain(model);
    const rows = [
      [
        [0, 0, 0, 0, 0, 0],
        [56.1275, 0, 213.2663],
        [0, 85, 0],
      ],
      [
        [0.2, 0.2, -0.2, 0.3, -0.2, 0.5],
        [65.8537, 7.8979, 285.6503],
        [68.511, 41.4688, 83.3466],
      ],
      [
        [0, 1.57, -1.57, 0, 0, 0],
        [376.8934, 0, 457.1188],
        [0, 85, 0],
      ],
      [
        [0.5, 1, -1.2, 0.3, 0.4, -0.7],
        [174.0973, 107.043, 464.8896],
        [-103.5375, 65.8378, -67.103],
      ],
    ] as const;
    const positionM = new Float64Array(3);
    const quat = new Float64Array(4);
    const rpy = new Float64Array(3);
    for (const [q, mm, deg] of rows) {
      chain.frame(q, 6, positionM, quat);
      rpyFromQuat(quat, rpy);
      for (const [i, value] of mm.entries()) near(positionM[i]! * 1000, value, 1e-3);
      for (const [i, value] of deg.entries()) near(rpy[i]!, rad(value), 1e-5);
    }
  });

  it('distinguishes the firmware variants', () => {
    assert.equal(variantOfModel(model), 'new');
    assert.equal(variantOfModel(old), 'old');
    const versions: [string, string][] = [
      ['1.6-3', 'new'],
      ['1.6-2', 'old'],
      ['1.5-9', 'old'],
      ['1.8-0', 'new'],
      ['2.0-0', 'new'],
      ['1.10-1', 'new'],
    ];
    for (const [version, variant] of versions) assert.equal(variantOfFirmware(version), variant, version);
    checkVariant('1.8-2', model);
    const rejected = (hint: RegExp) => (error: unknown) =>
      error instanceof TeleopError && error.code === 'model-mismatch' && hint.test(error.hint);
    assert.throws(() => checkVariant('1.5-2', model), rejected(/model: piper-old/));
    assert.throws(() => checkVariant('1.8-2', { ...old, name: 'piper-old' }), rejected(/model: piper`/));
    assert.throws(() => variantOfModel({ ...model, joints: model.joints.slice(1) }), rejected(/piper/));
  });

  it('assembles a version from fragments', () => {
    const feedback = new PiperFeedback();
    assert.equal(feedback.firmware, null);
    for (const text of ['4AF#482D56312E322D31', '4AF#00532D56312E382D', '4AF#3200'])
      feedback.take(parseFrameText(text)!, 1);
    assert.equal(feedback.firmware, '1.8-2');
  });
});
