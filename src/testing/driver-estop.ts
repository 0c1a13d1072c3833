import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeviceFixture } from './device-fixture.ts';
import type { Arm, DriverBench } from './driver-bench.ts';

const CYCLES_MS = 50;
const PATIENCE_MS = 10_000;

/** A driver reports the e-stop of its device, and forgets it once the button is released and the robot enabled again. */
export function describeDeviceEstop(name: string, bench: DriverBench, fixture: DeviceFixture): void {
  const skip = fixture.skip || (!fixture.hasEstop && 'its device has no e-stop button');
  describe(`driver ${name} and the e-stop of its device`, { skip }, () => {
    it('reports it while it is pressed, and follows again once it is released', async () => {
      await bench.with(async (arm, device) => {
        for (let round = 0; round < 2; round++) {
          await enabled(arm);
          device!.estop!(true);
          for (let ms = 0; ms < PATIENCE_MS && arm.driver.fault === ''; ms += CYCLES_MS)
            await arm.run(CYCLES_MS, null, false);
          assert.notEqual(arm.driver.fault, '', 'reports a fault text');
          arm.driver.stop(arm.nowNs);
          assert.notEqual(await arm.enable(), 'ok', 'cannot be enabled while it is pressed');
          device!.estop!(false);
          await enabled(arm);
          assert.equal(arm.driver.fault, '', 'nothing of it stays set');
          const from = arm.read();
          const reached = await arm.run(1000, arm.shifted(from, 0.1));
          assert.ok(Math.abs(reached[0]! - from[0]!) > 0.05, 'its first joint moves again');
        }
      });
    });
  });
}

/** The device may need a moment after a release: an operator would request it again, too. */
async function enabled(arm: Arm): Promise<void> {
  for (let ms = 0; ms < PATIENCE_MS && (await arm.enable()) !== 'ok'; ms += CYCLES_MS)
    await arm.run(CYCLES_MS, null, false);
  assert.equal(await arm.enable(), 'ok', arm.driver.fault);
}
