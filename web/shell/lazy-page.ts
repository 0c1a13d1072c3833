import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { ExportJob, LinkRequest, ReplayJob, ReplayRequest } from '../../src/messages/console.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import type { Watching } from '../link/control-chip.ts';
import type { FleetLink } from '../link/fleet-link.ts';
import type { LatencyWindow } from '../panels/latency-window.ts';

/** What each page except Operate receives. */
export interface PageContext {
  commands: LatencyWindow;
  /** Null unless a fleet console serves this page. */
  fleet: FleetLink | null;
  send(request: DeskRequest | LinkRequest | ReplayRequest): boolean;
}

/** A page that loads when it is first opened. */
export interface LazyPage {
  /** Called when the page is shown or hidden. */
  setShown(shown: boolean): void;
  /** Called with telemetry while the page is shown. */
  show(telemetry: Telemetry, nowMs: number): void;
  setModel?(model: RobotModel): void;
  exported?(job: ExportJob): void;
  replayed?(job: ReplayJob): void;
  /** Null: this page may send requests to the robot. */
  setWatching?(watching: Watching | null): void;
}
