import assert from 'node:assert/strict';
import { Counters } from '../../core/counters.ts';
import type { Neighbour } from '../../geometry/pairings.ts';
import { type RobotModel, robotModelSchema } from '../../geometry/robot-model.ts';
import type { JointCommand } from '../../messages/command.ts';
import type { SupervisorState, TickStatus } from '../../messages/robot-state.ts';
import type { Driver, JointReading } from '../driver.ts';
import { FlightRecorder } from './flight-recorder.ts';
import type { Transition } from './states.ts';
import { POWERED } from './states.ts';
import { Supervisor } from './supervisor.ts';
import { supervisorConfig } from './supervisor-config.ts';

export const MS = 1e6;
const START_NS = 50e9;
const dh = { aM: 0, dM: 0, alphaRad: 0 };
const joint = { minRad: -2, maxRad: 3, maxVelocityRadS: 2, maxAccelerationRadS2: 10, dh };
export const model = robotModelSchema.parse({
  name: 'two',
  title: 'two joints',
  family: 'ur',
  homeRad: [0, 0],
  gripper: true,
  joints: [
    { name: 'a', ...joint },
    { name: 'b', ...joint, maxVelocityRadS: 4 },
  ],
});
export const config = supervisorConfig.parse({});

export interface Write {
  nowNs: number;
  positions: number[];
  gripper: number;
}

/**
 * Records what reaches the robot. Its joints lag behind; a reading that is not `ok` leaves garbage in the
 * buffers.
 */
export class HostileDriver implements Driver {
  fault = '';
  readonly writes: Write[] = [];
  readonly measured: Float64Array;
  onWrite: (write: Write) => void = () => {};
  enabled = false;
  stops = 0;
  readStatus: TickStatus = 'ok';
  writeStatus: TickStatus = 'ok';
  enableStatus: TickStatus = 'ok';
  /** Stamp of the readings; null: the time of the read. */
  readingNs: number | null = null;
  readonly #target: Float64Array;

  constructor(homeRad: readonly number[] = model.homeRad) {
    this.measured = Float64Array.from(homeRad);
    this.#target = this.measured.slice();
  }

  enable(): TickStatus {
    this.enabled = this.enableStatus === 'ok';
    this.#target.set(this.measured);
    return this.enableStatus;
  }

  read(nowNs: number, out: JointReading): TickStatus {
    for (let i = 0; i < this.measured.length; i++)
      this.measured[i]! += 0.7 * (this.#target[i]! - this.measured[i]!);
    const ok = this.readStatus === 'ok';
    out.robotNs = this.readingNs ?? nowNs;
    if (ok) out.positionsRad.set(this.measured);
    else out.positionsRad.fill(-1.23);
    out.velocitiesRadS.fill(ok ? 0 : Number.NaN);
    out.gripper = ok ? 0 : Number.NaN;
    return this.readStatus;
  }

  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    const write = { nowNs, positions: [...positionsRad], gripper };
    this.writes.push(write);
    this.onWrite(write);
    if (this.enabled) this.#target.set(positionsRad);
    return this.writeStatus;
  }

  stop(): void {
    this.enabled = false;
    this.stops++;
  }

  dispose(): void {}
}

/** A supervisor on its own clock, driven like the robot's loop does. */
export class Bench {
  readonly driver: HostileDriver;
  readonly counters = new Counters();
  readonly transitions: Transition[] = [];
  readonly supervisor: Supervisor;
  nowNs = START_NS;
  seq = 0;
  readonly flights: FlightRecorder;
  readonly #joints: number;
  readonly #command: JointCommand;

  constructor(
    driver = new HostileDriver(),
    own: RobotModel = model,
    options: object = {},
    neighbour: Neighbour | null = null,
  ) {
    this.driver = driver;
    this.flights = FlightRecorder.create(own.joints.length, 400);
    this.supervisor = new Supervisor(
      own,
      this.driver,
      // Most tests use distant goals.
      supervisorConfig.parse({ maxLeapRad: 7, ...options }),
      this.counters,
      this.nowNs,
      (transition) => this.transitions.push(transition),
      this.flights,
      neighbour,
    );
    this.#joints = own.joints.length;
    this.#command = {
      session: 1,
      seq: 0,
      engagement: 0,
      epoch: 0,
      tracking: true,
      sampledOperatorNs: 0,
      sampledRobotNs: 0,
      syncEpoch: 0,
      ageNs: 0,
      positionsRad: new Float64Array(this.#joints),
      gripper: 0,
    };
  }

  get state(): SupervisorState {
    return this.supervisor.state;
  }

  /** One reused command object, poisoned after every use. */
  command(values: Partial<Omit<JointCommand, 'positionsRad'>>, positions: readonly number[]): JointCommand {
    const defaults = { engagement: 1, epoch: this.supervisor.epoch, tracking: true, gripper: 0.5 };
    const stamps = { sampledOperatorNs: this.nowNs, sampledRobotNs: this.nowNs };
    Object.assign(this.#command, defaults, stamps, { seq: ++this.seq }, values);
    this.#command.positionsRad.set(positions);
    return this.#command;
  }

  /** Arrival and release in one, like the loop without playout delay. */
  send(
    values: Partial<Omit<JointCommand, 'positionsRad'>>,
    positions: readonly number[] = [...this.driver.measured],
  ): string | null {
    const command = this.command(values, positions);
    const rejected = this.supervisor.admit(command, this.nowNs);
    if (rejected === null) this.supervisor.observe(command, this.nowNs);
    const reason = rejected ?? this.supervisor.submit(command, this.nowNs);
    command.positionsRad.fill(Number.NaN);
    command.gripper = Number.NaN;
    command.engagement = -99;
    return reason;
  }

  tick(ms = 5): void {
    this.nowNs += ms * MS;
    this.supervisor.tick(this.nowNs);
  }

  /** Long enough for the arm to count as at rest. */
  rest(): void {
    for (let ms = 0; ms <= 100; ms += 5) this.tick(5);
  }

  /** Brings it to a state by the shortest path from a fresh start. */
  bring(to: SupervisorState): this {
    const { supervisor } = this;
    this.rest();
    if (to !== 'disconnected') supervisor.operatorJoined(true, this.nowNs);
    if (POWERED[to]) supervisor.arm(this.nowNs);
    if (to === 'engaged' || to === 'hold') assert.equal(this.send({}), null);
    if (to === 'hold') this.send({ engagement: 0 });
    if (to === 'stopped') supervisor.estop('test', this.nowNs);
    assert.equal(this.state, to);
    return this;
  }
}
