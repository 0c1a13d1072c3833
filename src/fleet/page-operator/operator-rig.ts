import type { Rig } from '../../rig/rig.ts';

export interface PageOperatorPorts {
  /** Loopback ports of the gate in front of the robot's own: command, state, sync. */
  link: readonly number[];
  deskPort: number;
  telemetryPort: number;
}

const HOST = '127.0.0.1';
const OFF = { detectorPort: 0, transformPort: 0, viewPort: 0 };

/**
 * The rig of the operator role that runs beside a robot for a remote page: the robot's own rig with other
 * ports. The role receives only from that page, never arms by itself, opens no network port, and has a lower
 * priority than the robot.
 */
export function pageOperatorRig(rig: Rig, { link, deskPort, telemetryPort }: PageOperatorPorts): Rig {
  const { operator, robot } = rig;
  const [commandPort = 0, statePort = 0, syncPort = 0] = link;
  const { page = {}, webxr = {} } = operator.inputs;
  return {
    ...rig,
    operator: {
      ...operator,
      input: 'page',
      inputs: { page, webxr },
      autoArm: false,
      // The page's network is in front of this role, so its jitter is absorbed here, not by the robot.
      handPlayout: operator.handPlayout === 'none' ? 'adaptive' : operator.handPlayout,
      realtimePriority: Math.max(0, Math.min(operator.realtimePriority, robot.realtimePriority - 1)),
      handPublish: { ...operator.handPublish, ...OFF },
    },
    link: { ...rig.link, robotHost: HOST, commandPort, statePort, syncPort, security: 'paired' },
    cameras: { ...rig.cameras, host: cameraHost(rig) },
    console: { ...rig.console, deskPort, telemetryPort },
  };
}

/** Address of this machine's cameras, as set in the rig. */
function cameraHost({ cameras }: Rig): string {
  return ['', '0.0.0.0'].includes(cameras.listenHost) ? HOST : cameras.listenHost;
}
