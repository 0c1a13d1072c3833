import { answerText, askOperator } from '../../../src/desk/ask.ts';
import { freeUdpPorts } from '../../../src/wire/transports/free-ports.ts';
import type { Fault } from '../fault.ts';
import { pause, type TrialRig } from '../trial-rig.ts';

/** A second operator with the same key; records what its person sees. */
async function secondOperator(rig: TrialRig): Promise<void> {
  const [deskPort, telemetryPort] = await freeUdpPorts(2);
  const own = [`console.deskPort=${deskPort}`, `console.telemetryPort=${telemetryPort}`];
  rig.mark();
  const second = rig.startAnotherOperator([...own, 'record.start=asked'], 'second');
  await rig.ready(second, /^operator ready/);
  await pause(2500);
  const console = { ...rig.rig.console, deskPort: deskPort!, telemetryPort: telemetryPort! };
  const answer = await askOperator({ ...rig.rig, console }, 'hold', 5000);
  rig.received.push({ atNs: rig.nowNs(), text: `ask, at the second operator: ${answerText(answer)}` });
}

export const OPERATORS: readonly Fault[] = [
  {
    name: 'two-operators',
    what: 'a second operator with the same key',
    seconds: 11,
    expected: { ends: ['engaged'], restMs: null, message: /^ask, at the second operator: / },
    run: secondOperator,
  },
  {
    name: 'takeover',
    what: 'a second operator takes over (`robot.allowTakeover`); its scripted hand engages again',
    seconds: 11,
    settings: { robot: ['robot.allowTakeover=true'] },
    expected: {
      through: ['idle', 'armed', 'engaged'],
      ends: ['engaged', 'hold'],
      restMs: null,
      message: /^robot: engaged → idle: operator connected/,
    },
    run: secondOperator,
  },
];
