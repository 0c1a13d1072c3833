import { BY_PAGE, DrivingPage } from '../driving-page.ts';
import { type Fault, HOLD_REST_MS } from '../fault.ts';
import { pause } from '../trial-rig.ts';
import { CALM } from '../trial-settings.ts';

/** The writer holds a line back until its command's motion is seen; unwritten lines are lost with the process. */
const UNWRITTEN_MS = 3000;
/** docs/inputs: a page that is silent for 200 ms counts as gone. */
const PAGE_SILENCE_MS = 200;

export const KILLS: readonly Fault[] = [
  {
    name: 'kill-operator',
    what: 'operator killed (`kill -9`)',
    seconds: 8,
    expected: {
      through: ['hold', 'stopped'],
      ends: ['stopped'],
      restMs: HOLD_REST_MS,
      message: /^robot: hold → stopped: operator silent/,
      lostMs: UNWRITTEN_MS,
    },
    async run(rig) {
      rig.operator.child.kill('SIGKILL');
      rig.mark();
      await pause(2000);
    },
  },
  ...(['ur3', 'piper'] as const).map(
    (arm): Fault => ({
      name: `kill-robot-${arm}`,
      what: `robot killed (\`kill -9\`), ${arm === 'ur3' ? 'UR3: its control program detects the silence' : 'Piper: keeps its last target'}`,
      seconds: 11,
      settings: { arm, ...CALM },
      expected: { ends: ['gone'], restMs: 1000, message: /^ask: robot disconnected/ },
      async run(rig) {
        rig.robot.child.kill('SIGKILL');
        rig.mark();
        await pause(2000);
        await rig.look();
      },
    }),
  ),
  {
    name: 'kill-console',
    what: 'console killed (`kill -9`) while its page drives',
    seconds: 10,
    settings: BY_PAGE,
    expected: {
      through: ['hold'],
      ends: ['hold'],
      restMs: PAGE_SILENCE_MS + HOLD_REST_MS,
      message: /^robot: engaged → hold/,
    },
    async run(rig) {
      const page = await DrivingPage.lead(rig);
      page.server.child.kill('SIGKILL');
      rig.mark();
      await pause(1500);
      page.close();
    },
  },
  {
    name: 'pause-page',
    what: 'driving page silent for 0.5 s, clutch closed throughout',
    seconds: 10,
    settings: BY_PAGE,
    expected: {
      through: ['hold'],
      // The person must open the clutch first.
      ends: ['hold'],
      restMs: PAGE_SILENCE_MS + HOLD_REST_MS,
      message: /^robot: engaged → hold/,
    },
    async run(rig) {
      const page = await DrivingPage.lead(rig);
      page.isSilent = true;
      rig.mark();
      await pause(500);
      page.isSilent = false;
      await pause(1500);
      page.close();
    },
  },
];
