import { TeleopError } from '../../../core/errors.ts';
import { RAD_PER_TICK, REGISTER } from '../../buses/dynamixel/control-table.ts';
import { syncRead, syncWrite } from '../../buses/servo/operations.ts';
import type { ServoBus } from '../../buses/servo/servo-bus.ts';
import { isWhole, MAX_RANGE_RAD, type MotorRange, type PartialRanges } from './calibration-file.ts';
import type { CalibrationStep, Hand, HandJoint } from './hands.ts';
import { JointMap } from './mapping.ts';
import { HandPreparation, Refused, watchdogUnits } from './prepare.ts';

const SAMPLE_MS = 10;
/** This many samples within this range: the joint has reached its stop. */
const STILL_SAMPLES = 10;
const STILL_RAD = 0.01;
/** More samples than any joint needs. */
const MAX_SAMPLES = 1500;
const RELEASE_MS = 50;
const RELEASE_TRIES = 4;
const WATCHDOG_MS = 300;
const SPEED_RAD_S = 3;
const CENTRE_MS = 1500;
const CENTRE_RAD = 0.05;
/** Beyond any joint's range: there is no stop. */
const MAX_TRAVEL_RAD = 1.2 * MAX_RANGE_RAD;

export interface CalibrationOptions {
  /** Known ranges; steps replace them joint by joint. */
  known: PartialRanges;
  /** Called after each step. */
  save(ranges: PartialRanges): void;
  onStep(index: number, count: number, step: CalibrationStep): void;
  isAborted(): boolean;
}

/**
 * Drives one joint after another against both stops and records the motor angles there. However it ends, the
 * hand is limp afterwards. Throws a `TeleopError`.
 */
export async function calibrateHand(
  bus: ServoBus,
  hand: Hand,
  options: CalibrationOptions,
): Promise<PartialRanges> {
  const calibration = new HandCalibration(bus, hand, options);
  try {
    return await calibration.run();
  } catch (error) {
    throw error instanceof Refused ? failed(error.message) : error;
  } finally {
    await calibration.release();
  }
}

function failed(what: string): TeleopError {
  return new TeleopError('not-calibrated', `calibration failed: ${what}`, {
    hint: 'Check the joint and its tendon, then run `farhand calibrate orca` again with --resume, which keeps finished joints.',
  });
}

class HandCalibration {
  readonly #bus: ServoBus;
  readonly #hand: Hand;
  readonly #options: CalibrationOptions;
  readonly #preparation: HandPreparation;
  readonly #ids: readonly number[];
  readonly #ranges: PartialRanges;

  constructor(bus: ServoBus, hand: Hand, options: CalibrationOptions) {
    this.#bus = bus;
    this.#hand = hand;
    this.#options = options;
    this.#ids = hand.joints.map(({ motorId }) => motorId);
    this.#ranges = structuredClone(options.known);
    this.#preparation = new HandPreparation(bus, hand, () => {
      if (options.isAborted()) throw new Refused('interrupted');
    });
  }

  async run(): Promise<PartialRanges> {
    const { calibration, calibrationCurrentMa } = this.#hand;
    const steps = calibration.filter(({ joints }) =>
      joints.some((name) => !isWhole(this.#options.known[name])),
    );
    await this.#preparation.clearErrors();
    await this.#preparation.configure({
      currentMa: calibrationCurrentMa,
      maxMotorSpeedRadS: SPEED_RAD_S,
      busWatchdogMs: WATCHDOG_MS,
    });
    for (const [i, step] of steps.entries()) {
      this.#options.onStep(i, steps.length, step);
      await this.#step(step);
      this.#options.save(this.#ranges);
    }
    return this.#ranges;
  }

  /** Until every motor that replies reports that it is limp. */
  async release(): Promise<void> {
    for (let i = 0; i < RELEASE_TRIES; i++) {
      await syncWrite(this.#bus, this.#ids, REGISTER.torqueEnable, 0);
      await syncWrite(this.#bus, this.#ids, REGISTER.busWatchdog, 0);
      const torque = await syncRead(this.#bus, this.#ids, REGISTER.torqueEnable);
      if (torque.size === this.#ids.length && [...torque.values()].every((value) => value === 0)) return;
    }
  }

  async #step({ joints: names, direction }: CalibrationStep): Promise<void> {
    const joints = this.#hand.joints.filter(({ name }) => names.includes(name));
    await this.#power(joints);
    const foundRad = await this.#seek(joints, direction);
    joints.forEach((joint, i) => {
      this.#note(joint, direction, foundRad[i]!);
    });
    const whole = joints.filter(({ name }) => isWhole(this.#ranges[name]));
    if (direction === 'extend') {
      const poor = joints.find((joint) => !whole.includes(joint));
      if (poor !== undefined) throw new Refused(`${poor.name}: ${this.#widthText(poor)} between its stops`);
      await this.#centre(joints);
    }
  }

  #widthText({ name }: HandJoint): string {
    const { lowRad, highRad } = this.#ranges[name]!;
    const widthRad = (highRad ?? Number.NaN) - (lowRad ?? Number.NaN);
    return `the motor turns ${((widthRad * 180) / Math.PI).toFixed(0)}°, more than any joint allows,`;
  }

  /** Holds these joints in place with torque; all others are limp. */
  async #power(joints: readonly HandJoint[]): Promise<void> {
    const ids = joints.map(({ motorId }) => motorId);
    await this.#preparation.set('torque off', REGISTER.torqueEnable, 0);
    await this.#preparation.set('the watchdog reset', REGISTER.busWatchdog, 0);
    const ticks = await this.#ticks(ids);
    await this.#preparation.set('its current position', REGISTER.goalPosition, ticks, ids);
    await this.#preparation.set('the bus watchdog', REGISTER.busWatchdog, watchdogUnits(WATCHDOG_MS), ids);
    await this.#preparation.set('torque', REGISTER.torqueEnable, 1, ids);
  }

  /** Motor angles at the stops. */
  async #seek(joints: readonly HandJoint[], direction: 'flex' | 'extend'): Promise<number[]> {
    const ids = joints.map(({ motorId }) => motorId);
    const signs = joints.map(({ inverted }) => ((direction === 'flex') === inverted ? -1 : 1));
    const history = joints.map((): number[] => []);
    const still = (i: number) =>
      history[i]!.length === STILL_SAMPLES && Math.max(...history[i]!) - Math.min(...history[i]!) < STILL_RAD;
    const startRad = await this.#measuredRad(ids);
    for (let sample = 0; sample < MAX_SAMPLES; sample++) {
      const measuredRad = await this.#measuredRad(ids);
      joints.forEach(({ name }, i) => {
        history[i]!.push(measuredRad[i]!);
        if (history[i]!.length > STILL_SAMPLES) history[i]!.shift();
        if (Math.abs(measuredRad[i]! - startRad[i]!) > MAX_TRAVEL_RAD)
          throw new Refused(`${name}: no stop found`);
      });
      if (joints.every((_, i) => still(i))) return this.#settled(joints, ids, history);
      const goals = joints.map((_, i) =>
        Math.trunc((measuredRad[i]! + signs[i]! * this.#hand.calibrationStepRad) / RAD_PER_TICK),
      );
      await this.#preparation.writeAll(REGISTER.goalPosition, goals, ids);
      await this.#bus.pause(SAMPLE_MS);
    }
    throw new Refused(`${joints.map(({ name }) => name).join(', ')}: did not stop moving`);
  }

  /**
   * Without torque a tendon relaxes. The wrist would fall, so its position is the one measured under load.
   */
  async #settled(
    joints: readonly HandJoint[],
    ids: readonly number[],
    history: readonly number[][],
  ): Promise<number[]> {
    if (joints.some(({ motor }) => !motor.hasCurrentControl))
      return history.map((values) => values.reduce((sum, value) => sum + value, 0) / values.length);
    await this.#preparation.set('torque off', REGISTER.torqueEnable, 0, ids);
    await this.#bus.pause(RELEASE_MS);
    return this.#measuredRad(ids);
  }

  #note({ name, inverted }: HandJoint, direction: 'flex' | 'extend', motorRad: number): void {
    const isHigh = (direction === 'flex') !== inverted;
    const before = direction === 'flex' ? undefined : this.#ranges[name];
    this.#ranges[name] = {
      lowRad: isHigh ? (before?.lowRad ?? null) : motorRad,
      highRad: isHigh ? motorRad : (before?.highRad ?? null),
    };
  }

  /** Moves to 0°, clear of the others. */
  async #centre(joints: readonly HandJoint[]): Promise<void> {
    const part: Hand = { ...this.#hand, joints };
    const map = new JointMap(
      part,
      joints.map(({ name }) => this.#ranges[name] as MotorRange),
    );
    const ids = joints.map(({ motorId }) => motorId);
    const goals = joints.map((_, i) => map.ticksOf(i, 0));
    await this.#power(joints);
    await this.#preparation.writeAll(REGISTER.goalPosition, goals, ids);
    for (let ms = 0; ms < CENTRE_MS; ms += SAMPLE_MS) {
      const ticks = await this.#ticks(ids);
      if (ticks.every((at, i) => Math.abs(at - goals[i]!) * RAD_PER_TICK < CENTRE_RAD)) return;
      await this.#bus.pause(SAMPLE_MS);
    }
  }

  async #measuredRad(ids: readonly number[]): Promise<number[]> {
    return (await this.#ticks(ids)).map((ticks) => ticks * RAD_PER_TICK);
  }

  async #ticks(ids: readonly number[]): Promise<number[]> {
    return (await this.#preparation.readAll(REGISTER.presentPosition, ids)).map((value) => value | 0);
  }
}
