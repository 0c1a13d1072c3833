import { type DemoOptions, runDemo } from '../demo.ts';
import { freeUdpPorts } from '../free-ports.ts';
import { loadRig, type Rig } from '../rig.ts';

export interface LocalRobot {
  /** As its operator has it. */
  rig: Rig;
  /** Rejects when one of its processes fails. */
  failed: Promise<never>;
  close(): Promise<void>;
}

/**
 * A simulated robot with its operator, as the demo starts them, whose input is `joints`. `overrides` come after those of
 * the rig, so that a test may have its way.
 */
export async function startLocalRobot(
  rigName: string,
  overrides: readonly string[],
  options: Pick<DemoOptions, 'headless' | 'say' | 'onUrl'>,
): Promise<LocalRobot> {
  const [desk, telemetry, joints] = await freeUdpPorts(3);
  const all = [
    'robot.driver=sim',
    'robot.options={}',
    'operator.input=joints',
    `operator.inputs={joints: {port: ${joints}}}`,
    'operator.autoArm=true',
    'trace.dir=',
    `console.deskPort=${desk}`,
    `console.telemetryPort=${telemetry}`,
    ...overrides,
  ];
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const run = runDemo({ ...options, rig: rigName, overrides: all, durationS: null, stop: stopped });
  let closing = false;
  const failed = new Promise<never>((_, reject) => {
    run.catch((error: unknown) => closing || reject(error));
  });
  failed.catch(() => {});
  return {
    rig: loadRig(rigName, all).config,
    failed,
    async close() {
      closing = true;
      stop();
      // Without a trace it ends with that complaint; the processes are gone either way.
      await run.catch(() => {});
    },
  };
}
