import { ARMS, type ArmName, DamiaoRig } from '../damiao/damiao-rig.ts';
import { needs } from '../needs.ts';
import type { DriverFixture } from './driver-fixture.ts';

/** An arm of Damiao motors behind a simulated adapter, in this process. */
export function damiaoFixture(name: ArmName): DriverFixture {
  return {
    model: ARMS[name].model,
    skip: needs('Linux') || '',
    touch: ['effort'],
    atOnce: 12,
    async start() {
      const rig = await DamiaoRig.start(name);
      return { options: rig.options, kill: () => rig.unplug(), stop: async () => rig.end() };
    },
  };
}
