import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../files/temporary-folder.ts';
import { loadRig, type Rig } from '../rig/rig.ts';
import { freeUdpPorts } from '../wire/transports/free-ports.ts';
import { type DemoOptions, runDemo } from './run-demo.ts';

export interface LocalRobot {
  /** The operator's rig. */
  rig: Rig;
  /** Rejects when one of its processes fails. */
  failed: Promise<never>;
  close(): Promise<void>;
}

/** A simulated robot of this rig with its operator, started as in the demo, with input `joints`. */
export async function startLocalRobot(
  given: Rig,
  options: Pick<DemoOptions, 'headless' | 'say' | 'onUrl'>,
): Promise<LocalRobot> {
  const folder = temporaryFolder('replay');
  const file = path.join(folder.path, 'rig.yaml');
  const [desk = 0, telemetry = 0, joints = 0] = await freeUdpPorts(3);
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(simulated(given, joints)));
  const ports = [`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`];
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const run = runDemo({ ...options, rig: file, overrides: ports, durationS: null, stop: stopped });
  let closing = false;
  const failed = new Promise<never>((_, reject) => {
    run.catch((error: unknown) => closing || reject(error));
  });
  failed.catch(() => {});
  return {
    rig: loadRig(file, ports).config,
    failed,
    async close() {
      closing = true;
      stop();
      // Without a trace the demo rejects; the processes have ended either way.
      await run.catch(() => {});
      folder.remove();
    },
  };
}

/** The same rig with every real part removed: driver, inputs, network, cameras and files. */
function simulated(rig: Rig, port: number): Record<string, unknown> {
  const { operator, link, robot, trace, ...rest } = rig;
  const staleAfterMs = operator.inputs['joints']?.['staleAfterMs'];
  const { cameras: _cameras, record: _record, ...others } = rest as Record<string, unknown>;
  return {
    ...others,
    operator: {
      ...operator,
      input: 'joints',
      inputs: { joints: { port, ...(staleAfterMs === undefined ? {} : { staleAfterMs }) } },
      autoArm: true,
    },
    link: { ...link, robotHost: '127.0.0.1', listenHost: '127.0.0.1', keyFile: '', transport: 'udp' },
    robot: { ...robot, driver: 'sim', options: {} },
    trace: { ...trace, dir: '' },
  };
}
