import { freeUdpPorts } from '../../../src/wire/transports/free-ports.ts';
import type { DriverFixture } from '../driver-fixture.ts';
import { startSimProcess } from '../sim-process.ts';

const fixture: DriverFixture = {
  model: 'bento',
  touch: [],
  atOnce: 2,
  start: async () => {
    const [port, feedbackPort] = await freeUdpPorts(2);
    const ports = ['--port', String(port), '--feedback-port', String(feedbackPort)];
    const sim = await startSimProcess(['bento', ...ports]);
    // This machine may be busy with other tests: longer timeouts than in a real set-up.
    const timeouts = { watchdogMs: 1000, feedbackTimeoutMs: 2000, openTimeoutMs: 4000 };
    return { options: { port, feedbackPort, ...timeouts }, kill: sim.kill, stop: sim.stop };
  },
};

export default fixture;
