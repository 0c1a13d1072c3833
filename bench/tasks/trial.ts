import { joinLocally } from '../../src/app/local-pair.ts';
import { ManualClock } from '../../src/core/time/clock.ts';
import { baseFromVr, quatConjugate, quatMultiply, quatRotate } from '../../src/geometry/frames.ts';
import type { InputDevice } from '../../src/input/device.ts';
import type { HandSample, SampleStatus } from '../../src/messages/hand-sample.ts';
import type { PackedTrace } from '../../src/messages/trace-record.ts';
import { WORLD_STATE, type WorldState } from '../../src/messages/world-state.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { config as worldConfig } from '../../src/robot/drivers/world/config.ts';
import { WorldDriver } from '../../src/robot/drivers/world/world-driver.ts';
import { LinkModel } from '../../src/wire/emulator/link-model.ts';
import { type Peer, peerPort } from '../../src/wire/reactor.ts';
import { LocalNetwork } from '../../src/wire/transports/local.ts';
import { OPEN_M } from '../../src/world/gripper-body.ts';
import type { Mujoco } from '../../src/world/mujoco.ts';
import type { Task } from '../../src/world/task.ts';
import { taskNamed } from '../../src/world/task-list.ts';
import { linkNamed } from './links.ts';
import { PERSON, Person, type Sight } from './person.ts';

/** Camera, encoder, decoder and screen. */
const CAMERA_S = 0.05;
/** How far the simulated arm follows behind its target. */
const SERVO_S = 0.04;
const LOG_S = 0.005;
/** A net force on the arm beyond this counts as a collision. */
const COLLISION_N = 30;
/** Contacts flicker: an event is over, or lasts, after this long. */
const LASTING_S = 0.2;
/** States that a person may look back: five seconds. */
const PAST = 1000;
const DATAGRAM_BYTES = 600;
/** Robot ports are below this, see `joinLocally`. */
const FIRST_OPERATOR_PORT = 5000;

export interface TrialSettings {
  model: string;
  task: string;
  seed: number;
  /** For `linkNamed`. */
  link: string;
  playout: string;
}

/** A person's hand as an input, and whether it means the gripper to be closed. */
export interface Hands {
  device: InputDevice;
  isClosed(): boolean;
}

export interface Trial {
  success: boolean;
  timeS: number;
  score: number;
  /** Times a thing left the closed gripper. */
  drops: number;
  collisions: number;
}

/** One person at one task over one link: both roles, playout, supervisor and physics, on a manual clock. */
export async function runTrial(
  mujoco: Mujoco,
  settings: TrialSettings,
  handsOf: (task: Task, seed: number, sight: Sight) => Hands = personHands,
): Promise<Trial> {
  const { model: name, task, seed, playout } = settings;
  const rig = loadRig('world', [`robot.playout=${playout}`, `model=${name}`, 'robot.network=none']).config;
  const model = loadModel(name);
  const clock = new ManualClock();
  const options = worldConfig.parse({ task, seed });
  const driver = new WorldDriver(options, model, mujoco, clock.nowNs());
  const link = new TrialLink(settings.link, seed, clock);
  const network = new LocalNetwork(
    clock,
    (ns) => clock.advanceTo(ns),
    (_, to, nowNs) => link.delayNs(to, nowNs),
  );
  const log = new WorldLog(driver);
  const oneWay = new OneWay();
  const hands = handsOf(taskNamed(task), seed, {
    look: (out) => log.at(clock.nowNs() / 1e9 - CAMERA_S - link.downS - PERSON.visuomotorS, out),
    loopDelayS: () => oneWay.meanS + link.downS + CAMERA_S + SERVO_S,
  });
  const inputs = new Map([['person', { device: hands.device, automatic: true }]]);
  const operator = { ...rig.operator, input: 'person', inputs: { person: {} } };
  const onClosed = (record: PackedTrace) => oneWay.note(record);
  await joinLocally({
    ...{ rig: { ...rig, operator }, model, clock, network },
    ...{ sealed: false, driver, inputs, onClosed },
  });
  const startS = clock.nowNs() / 1e9;
  const limitS = taskNamed(task).limitS;
  while (!log.isOver && clock.nowNs() / 1e9 - startS < limitS + 1) {
    network.run(clock.nowNs() + LOG_S * 1e9);
    log.note(clock.nowNs() / 1e9, hands.isClosed());
  }
  driver.dispose();
  const { outcome, elapsedS, score } = log.newest;
  const success = outcome === 'done';
  return { success, timeS: elapsedS, score, drops: log.drops, collisions: log.collisions };
}

function personHands(task: Task, seed: number, sight: Sight): Hands {
  const person = new Person(task, seed, sight);
  return { device: new PersonInput(person), isClosed: () => person.openM === 0 };
}

/** From the hand to the driver, as the last second or so has been: the link and the playout delay. */
class OneWay {
  meanS = 0;

  note({ sampledNs, appliedNs, offsetNs }: PackedTrace): void {
    const tookS = (appliedNs - offsetNs - sampledNs) / 1e9;
    if (Number.isFinite(tookS)) this.meanS += (tookS - this.meanS) * (this.meanS === 0 ? 1 : 0.01);
  }
}

/** Both directions of an emulated link; also what the way back costs at the moment. */
class TrialLink {
  downS = 0;
  readonly #models: readonly LinkModel[];

  constructor(name: string, seed: number, clock: ManualClock) {
    const impairment = linkNamed(name);
    const direction = { label: name, impairment, events: [], trace: null, tracePhaseNs: 0 };
    this.#models = ['forward', 'return'].map((way) => new LinkModel(direction, seed, way, clock.nowNs()));
  }

  delayNs(to: Peer, nowNs: number): number | null {
    const isUp = peerPort(to) < FIRST_OPERATOR_PORT;
    const outNs = this.#models[isUp ? 0 : 1]!.admit(nowNs, DATAGRAM_BYTES);
    if (outNs === null) return null;
    if (!isUp) this.downS = (outNs - nowNs) / 1e9;
    return outNs - nowNs;
  }
}

/** The world's past, for a person who sees it late; also what went wrong in it. */
class WorldLog {
  drops = 0;
  collisions = 0;
  newest = WORLD_STATE.create();
  readonly #driver: WorldDriver;
  /** A ring: making a state costs as much as two milliseconds of physics. */
  readonly #past = Array.from({ length: PAST }, () => ({
    atS: Number.POSITIVE_INFINITY,
    state: WORLD_STATE.create(),
  }));
  #count = 0;
  /** When something was last held, and when the arm was last hit. */
  #heldS = Number.NEGATIVE_INFINITY;
  #hitS = Number.NEGATIVE_INFINITY;

  constructor(driver: WorldDriver) {
    this.#driver = driver;
    this.note(0, false);
  }

  get isOver(): boolean {
    return this.newest.outcome !== 'running';
  }

  note(atS: number, isClosed: boolean): void {
    const entry = this.#past[this.#count++ % PAST]!;
    const { state } = entry;
    entry.atS = atS;
    this.#driver.world.read(state);
    if (!isClosed) this.#heldS = Number.NEGATIVE_INFINITY;
    else if (state.held >= 0) this.#heldS = atS;
    else if (atS - this.#heldS > LASTING_S && Number.isFinite(this.#heldS)) {
      this.drops++;
      this.#heldS = Number.NEGATIVE_INFINITY;
    }
    if (state.contactN > COLLISION_N) {
      if (atS - this.#hitS > LASTING_S) this.collisions++;
      this.#hitS = atS;
    }
    this.newest = state;
  }

  at(atS: number, out: WorldState): void {
    const first = Math.max(0, this.#count - PAST);
    let at = this.#count - 1;
    while (at > first && this.#past[at % PAST]!.atS > atS) at--;
    out.packed.set(this.#past[at % PAST]!.state.packed);
  }
}

/** The person's hand as the operator's input. */
class PersonInput implements InputDevice {
  readonly #person: Person;
  readonly #vrFromBase = new Float64Array(4);
  readonly #turn = Float64Array.of(0, 0, 0, 1);
  #tickNs = Number.NaN;

  constructor(person: Person) {
    this.#person = person;
    quatConjugate(baseFromVr.quatXyzw, this.#vrFromBase);
  }

  ingest(): 'unknown-source' {
    return 'unknown-source';
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    if (nowNs > this.#tickNs) this.#person.tick((nowNs - this.#tickNs) / 1e9);
    this.#tickNs = nowNs;
    const { pointM, yawRad, openM } = this.#person;
    out.takenNs = nowNs;
    quatRotate(this.#vrFromBase, pointM, out.positionM);
    this.#turn[2] = Math.sin(yawRad / 2);
    this.#turn[3] = Math.cos(yawRad / 2);
    quatMultiply(this.#vrFromBase, this.#turn, out.quatXyzw);
    out.gripper = 1 - openM / OPEN_M;
    Object.assign(out, { clutch: true, tracking: true, estop: false, points: 0, isLeft: false });
    return 'ok';
  }
}
