import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { allocationByRole } from '../../bench/tails/role-allocation.ts';
import { collectGarbage } from '../../src/native/garbage.ts';

/**
 * 16 for each stamp that one compiled function passes to another. Twice what is measured: V8 inlines as it sees fit. From
 * Node 22 on, its compiler Maglev puts more numbers on the heap.
 */
const MOST_BYTES = process.version.startsWith('v20.')
  ? { operator: 350, robot: 850 }
  : { operator: 3400, robot: 2600 };

describe('a command through both control loops', () => {
  it('leaves hardly any garbage: mapping, seal, playout, supervisor, receipt and trace', async () => {
    // On a busy machine the compiler's own thread would finish too late.
    setFlagsFromString('--no-concurrent-recompilation');
    const { operator, robot } = await allocationByRole(true, collectGarbage, MOST_BYTES);
    assert.ok(
      operator < MOST_BYTES.operator,
      `the operator allocates ${operator.toFixed(0)} bytes per command`,
    );
    assert.ok(robot < MOST_BYTES.robot, `the robot allocates ${robot.toFixed(0)} bytes per command`);
  });
});
