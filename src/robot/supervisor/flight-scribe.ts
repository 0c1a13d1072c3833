import { LIMITED_BY, SUPERVISOR_STATES, type SupervisorState } from '../../messages/robot-state.ts';
import type { JointReading } from '../driver.ts';
import type { ArmMotion } from './arm-motion.ts';
import { FLIGHT_FIELDS, type FlightRecorder, flightRecordSize } from './flight-recorder.ts';

/** What a record takes from the supervisor. */
interface Supervised {
  readonly state: SupervisorState;
  readonly epoch: number;
  readonly reading: JointReading;
}

/** Writes the supervisor's cycles into the flight recorder. Hot path: nothing allocates. */
export class FlightScribe {
  readonly #recorder: FlightRecorder;
  readonly #record: Float64Array;
  readonly #joints: number;

  constructor(recorder: FlightRecorder, joints: number) {
    this.#recorder = recorder;
    this.#record = new Float64Array(flightRecordSize(joints));
    this.#joints = joints;
  }

  /** The slab with the last cycles, or −1. */
  freeze(): number {
    return this.#recorder.freeze();
  }

  note(
    nowNs: number,
    supervisor: Supervised,
    motion: ArmMotion,
    engagement: number,
    seq: number,
    commandNs: number,
    appliedNs: number,
  ): void {
    const { reading } = supervisor;
    const record = this.#record;
    record[0] = nowNs;
    record[1] = SUPERVISOR_STATES.indexOf(supervisor.state);
    record[2] = LIMITED_BY.indexOf(motion.limitedBy);
    record[3] = supervisor.epoch;
    record[4] = engagement;
    record[5] = seq;
    record[6] = commandNs;
    record[7] = appliedNs;
    record[8] = reading.robotNs;
    record[9] = motion.clearanceM;
    record[10] = reading.gripper;
    const at = FLIGHT_FIELDS.length;
    record.set(motion.goalRad, at);
    record.set(motion.targetRad, at + this.#joints);
    record.set(motion.velocitiesRadS, at + 2 * this.#joints);
    record.set(reading.positionsRad, at + 3 * this.#joints);
    record.set(reading.velocitiesRadS, at + 4 * this.#joints);
    this.#recorder.write(record);
  }
}
