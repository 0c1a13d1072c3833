import type { SupervisorState } from '../../messages/robot-state.ts';
import type { JointReading } from '../driver.ts';
import type { ArmMotion } from './arm-motion.ts';
import { FLIGHT, type FlightRecorder } from './flight-recorder.ts';

/** The supervisor's part of a record. */
interface Supervised {
  readonly state: SupervisorState;
  readonly epoch: number;
  readonly reading: JointReading;
}

/** Writes the supervisor's cycles into the flight recorder. Hot path: nothing allocates. */
export class FlightScribe {
  readonly #recorder: FlightRecorder;
  readonly #record;

  constructor(recorder: FlightRecorder, joints: number) {
    this.#recorder = recorder;
    this.#record = FLIGHT.create(joints);
  }

  /** Returns the slab with the last cycles, or −1. */
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
    acceptedNs: number,
  ): void {
    const { reading } = supervisor;
    const record = this.#record;
    record.robotNs = nowNs;
    record.state = supervisor.state;
    record.limitedBy = motion.limitedBy;
    record.epoch = supervisor.epoch;
    record.engagement = engagement;
    record.seq = seq;
    record.commandNs = commandNs;
    record.acceptedNs = acceptedNs;
    record.readingNs = reading.robotNs;
    record.clearanceM = motion.clearanceM;
    record.gripper = reading.gripper;
    record.goalRad.set(motion.goalRad);
    record.targetRad.set(motion.targetRad);
    record.targetRadS.set(motion.velocitiesRadS);
    record.measuredRad.set(reading.positionsRad);
    record.measuredRadS.set(reading.velocitiesRadS);
    this.#recorder.write(record.packed);
  }
}
