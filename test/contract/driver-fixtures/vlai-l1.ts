import { DualArm } from '../../../sim/vlai-l1/dual-arm.ts';
import { RosbridgeServer } from '../../../sim/vlai-l1/rosbridge-server.ts';
import type { DriverFixture } from '../driver-fixture.ts';

const STEP_MS = 5;

/** Through rosbridge: over CAN this driver is OpenArm's. */
const fixture: DriverFixture = {
  model: 'vlai-l1-right',
  touch: [],
  atOnce: 8,
  async start() {
    const dual = new DualArm();
    const server = await RosbridgeServer.open(dual, 0);
    const ticker = setInterval(() => {
      dual.advance(STEP_MS / 1000);
      server.publish();
    }, STEP_MS);
    const stop = () => {
      clearInterval(ticker);
      server.close();
    };
    const ros = { url: `ws://127.0.0.1:${server.port}`, feedbackTimeoutMs: 2000 };
    return { options: { via: 'rosbridge', ros }, kill: stop, stop: async () => stop() };
  },
};

export default fixture;
