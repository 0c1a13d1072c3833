import type { DeviceReport, DoctorReport } from '../../src/messages/console.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';

export interface DevicesState {
  devices: DeviceReport | null;
  problem: string;
  doctor: DoctorReport | null;
  checking: boolean;
  telemetry: Telemetry | null;
}
