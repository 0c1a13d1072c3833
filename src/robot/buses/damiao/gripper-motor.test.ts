import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import { armConfig, armSpec } from './arm-config.ts';
import { DK1 } from './arms.ts';
import { DamiaoCommands } from './commands.ts';
import { DamiaoFeedback } from './feedback.ts';
import { DamiaoGripper } from './gripper-motor.ts';

const MS = 1e6;
/** Joint names come from it where it has them. */
const model = { joints: [] } as unknown as RobotModel;

describe('gripper homing', () => {
  it('gives up after five seconds if there is no end stop', () => {
    const spec = armSpec(armConfig(DK1).parse({}), model);
    const { motor } = spec.gripper!;
    const feedback = new DamiaoFeedback([motor]);
    const gripper = new DamiaoGripper(
      spec.gripper!,
      0,
      feedback,
      new DamiaoCommands(spec, [motor], feedback),
    );
    feedback.velocitiesRadS[0] = 5;
    gripper.beginHoming();
    let nowMs = 0;
    while (nowMs < 20_000 && !gripper.seek(nowMs * MS)) nowMs += 10;
    assert.ok(nowMs > 4900 && nowMs < 5100, `${nowMs} ms`);
    assert.ok(!gripper.homed);
  });
});
