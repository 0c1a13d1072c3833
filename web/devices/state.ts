import type { DeviceReport, DoctorReport, NearbyRobot } from '../../src/messages/console.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';

export interface DevicesState {
  devices: DeviceReport | null;
  /** Null while nobody has looked. */
  robots: NearbyRobot[] | null;
  /** Whether a search is running. */
  searching: boolean;
  problem: string;
  doctor: DoctorReport | null;
  checking: boolean;
  telemetry: Telemetry | null;
  /** Only operators may look for robots and check the machine. */
  isViewer: boolean;
}
