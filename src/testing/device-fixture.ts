/** How the contract suite runs a driver with hardware, or with a device that answers in its place. */
export interface DeviceFixture {
  /** Settings for tests that open nothing. */
  readonly options?: Record<string, unknown>;
  /** Why it cannot run here; absent or empty if it can. */
  readonly skip?: string;
  /** How far a joint may sag when recovering from a stop, if the hardware cuts its power for that. */
  readonly recoverySagRad?: number;
  /** How close to a still target the controller comes; default 0.01. */
  readonly toleranceRad?: number;
  /** What the driver reports besides positions and speeds, and nothing else of these; absent: not checked. */
  readonly touch?: readonly ('effort' | 'external' | 'gripper')[];
  /** Its running device has an e-stop button (`estop`). */
  readonly hasEstop?: true;
  /** How many tests may run at once, each on its own device; default 1. */
  readonly atOnce?: number;
  start(): Promise<RunningDevice>;
}

export interface RunningDevice {
  /** Settings that open the driver against it. */
  readonly options: Record<string, unknown>;
  /** Kills the peer abruptly: no leave message, no clean shutdown. */
  kill(): void;
  /** Presses the e-stop button of the device itself, or releases it. Absent: it has none. */
  estop?(isPressed: boolean): void;
  stop(): Promise<void>;
}
