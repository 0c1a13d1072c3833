import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { monotonicClock } from '../core/time/clock.ts';
import { windDownFlag } from '../messages/role-flags.ts';
import { collectGarbage } from '../native/garbage.ts';
import { askOthersToGiveWay, requestShortSlice } from '../native/short-slice.ts';
import { openOperator } from './open-operator.ts';
import { openReactor } from './open-reactor.ts';
import { runRobot } from './open-robot.ts';
import type { ControlMessage, ControlStart } from './role-memory.ts';
import { warmUp } from './warm-up.ts';
import { failedMessage } from './worker-host.ts';

/** The control thread of a role: opens the devices and sockets, then only runs the loop. */
const start = workerData as ControlStart;
const clock = monotonicClock;
const post = (message: ControlMessage) => parentPort?.postMessage(message);

// Parsing garbage throws and catches; stack traces would account for most of the cost.
Error.stackTraceLimit = 0;
// Helping threads do not make a small collection shorter (0.3 ms), and waiting for one of them took up to 5 ms.
setFlagsFromString('--no-parallel-scavenge');

/** Native sockets ask for it themselves. */
async function sliced(scheduling: string): Promise<string> {
  const slice = await requestShortSlice();
  return slice === '' ? scheduling : `${scheduling}, ${slice}`;
}

async function main(): Promise<void> {
  await warmUp(start);
  // Ended during the warm-up: nothing is open yet.
  if (Atomics.load(windDownFlag(start.memory), 0) !== 0) return post({ kind: 'done' });
  const { reactor, sockets, inputs, fallback } = await openReactor(start, clock);
  const { kind, stampSource } = reactor;
  const scheduling = kind === 'native' ? reactor.scheduling : await sliced(reactor.scheduling);
  await askOthersToGiveWay();
  const ports = Array.from({ length: sockets }, (_, i) => reactor.localPort(i));
  const onReady = () => {
    // Otherwise what warming up and opening leave is collected during a command.
    collectGarbage();
    post({ kind: 'ready', ports, inputs, reactor: kind, stampSource, scheduling, fallback });
  };
  try {
    if (start.role === 'operator') {
      const handler = await openOperator(start, reactor, clock, () => reactor.stop());
      onReady();
      await reactor.run(handler);
    } else
      await runRobot(start, reactor, clock, {
        onReady,
        onTransition: ({ side }, transition) => post({ kind: 'transition', side, ...transition }),
        onLearnt: (network, prior) => post({ kind: 'learnt', network, prior }),
      });
  } finally {
    reactor.close();
  }
  post({ kind: 'done' });
}

main().catch((error: unknown) => {
  post(failedMessage(error));
});
