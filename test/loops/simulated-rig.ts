import assert from 'node:assert/strict';
import { openInputs } from '../../src/app/open-operator.ts';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { Counters } from '../../src/core/counters.ts';
import { SnapshotBoard } from '../../src/core/memory/snapshot.ts';
import { DurationHistogram } from '../../src/core/statistics/histogram.ts';
import { type Clock, ManualClock } from '../../src/core/time/clock.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { InputDevice } from '../../src/input/device.ts';
import { emptyHandSample, type HandSample, type SampleStatus } from '../../src/messages/hand-sample.ts';
import { ROBOT_BOARD } from '../../src/messages/robot-board.ts';
import type { TickStatus } from '../../src/messages/robot-state.ts';
import { TRACE, type TraceRecord } from '../../src/messages/trace-record.ts';
import { BOARD } from '../../src/operator/board.ts';
import { OPERATOR_SOCKETS, OperatorLoop, type OperatorParts } from '../../src/operator/loop.ts';
import type { OpenInput } from '../../src/operator/sampler.ts';
import { loadRig, type Rig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import type { Driver, HandOver, JointReading, WorldPort } from '../../src/robot/driver.ts';
import { RobotLoop } from '../../src/robot/loop.ts';
import type { Priors } from '../../src/robot/network-memory.ts';
import type { PriorJson } from '../../src/robot/playout/adaptive/prior.ts';
import type { PlayoutPolicy } from '../../src/robot/playout/playout-policy.ts';
import { rigPolicy } from '../../src/robot/playout/rig-policy.ts';
import type { Transition } from '../../src/robot/supervisor/states.ts';
import { type JudgedJoint, TargetJudge } from '../../src/robot/supervisor/target-judge.test.bench.ts';
import { frameType, writeFrame } from '../../src/wire/codecs/frame.ts';
import { decodeReceipt, emptyReceipt } from '../../src/wire/codecs/receipt.ts';
import { type Outbox, type Peer, peerOf } from '../../src/wire/reactor.ts';
import { type Impairment, LocalNetwork } from '../../src/wire/transports/local.ts';
import { Seat } from './seat.ts';

export const MS = 1e6;
export const ROBOT_HOST = '10.0.0.2';
export const OPERATOR_HOST = '10.0.0.1';
const ROBOT_PORTS = [4750, 4751, 4752] as const;

export const robotPeer = (socket: 0 | 1 | 2): Peer => peerOf(ROBOT_HOST, ROBOT_PORTS[socket]);

export interface Write {
  /** Simulated time, not the robot's clock. */
  atNs: number;
  positionsRad: number[];
  /** 0 open, 1 closed. */
  gripper: number;
}

/** The simulated arm, with every write and stop on record. */
export class RecordingDriver implements Driver {
  readonly fault = '';
  readonly writes: Write[] = [];
  readonly stopsNs: number[] = [];
  /** Checks in every test that no target breaks a limit. */
  readonly judge: TargetJudge;
  readonly #inner: Driver;
  readonly #base: Clock;

  constructor(inner: Driver, base: Clock, joints: readonly JudgedJoint[]) {
    this.#inner = inner;
    this.#base = base;
    this.judge = new TargetJudge(joints);
  }

  get handOver(): HandOver | undefined {
    return this.#inner.handOver;
  }

  get world(): WorldPort | null | undefined {
    return this.#inner.world;
  }

  enable(nowNs: number): TickStatus {
    return this.#inner.enable(nowNs);
  }

  read(nowNs: number, out: JointReading): TickStatus {
    this.judge.cycle(nowNs);
    return this.#inner.read(nowNs, out);
  }

  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    this.judge.wrote(nowNs, positionsRad);
    this.writes.push({ atNs: this.#base.nowNs(), positionsRad: [...positionsRad], gripper });
    return this.#inner.write(nowNs, positionsRad, gripper);
  }

  stop(nowNs: number): void {
    this.judge.unpowered();
    this.stopsNs.push(this.#base.nowNs());
    this.#inner.stop(nowNs);
  }

  dispose(): void {
    this.#inner.dispose();
  }
}

/** A hand moved by the test. */
export class TestHand implements InputDevice {
  readonly hand: HandSample = emptyHandSample();
  status: SampleStatus = 'ok';

  constructor() {
    this.hand.tracking = true;
  }

  ingest(): null {
    return null;
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    const { positionM, quatXyzw, gripper, clutch, tracking, estop } = this.hand;
    out.takenNs = nowNs;
    out.positionM.set(positionM);
    out.quatXyzw.set(quatXyzw);
    Object.assign(out, { gripper, clutch, tracking: this.status === 'ok' && tracking, estop });
    return this.status;
  }
}

export interface RobotSide {
  loop: RobotLoop;
  policy: PlayoutPolicy;
  driver: RecordingDriver;
  counters: Counters;
  transitions: Transition[];
  /** The robot's receipts, in order, before the network. */
  answers: { seq: number; outcome: string; atNs: number }[];
}

export interface OperatorSide {
  loop: OperatorLoop;
  session: number;
  counters: Counters;
  closed: TraceRecord[];
  finished: boolean;
  windDown: Int32Array;
  peers: Peer[];
}

export interface SimulatedOptions {
  /** A shipped rig; its driver is replaced by the simulated arm. Default: demo. */
  rig?: string;
  /** A shipped rig with its own driver. */
  rigFile?: string;
  overrides?: string[];
  /** One-way delay in both directions, until `impair` is set. */
  delayMs?: number;
  operatorOffsetNs?: number;
  robotOffsetNs?: number;
  startNs?: number;
  /** Replaces the scripted hand. */
  hand?: TestHand;
  /** Wraps the simulated arm's driver; nothing by default. */
  wrapDriver?: (arm: Driver, robotClock: Clock, joints: number) => Driver;
  /** False: the test starts the roles itself. */
  start?: boolean;
}

/** Both roles over a simulated network in simulated time; deterministic. */
export class SimulatedRig {
  readonly clock: ManualClock;
  readonly network: LocalNetwork;
  readonly rig: Rig;
  readonly model: RobotModel;
  impair: Impairment;
  /** Sees every datagram of the operator before the network does. */
  onOperatorSend: (socket: number, bytes: Uint8Array) => void = () => {};
  /** Commanded and measured joints, as the operator reports them. */
  onJoints: NonNullable<OperatorParts['onJoints']> = () => {};
  robot!: RobotSide;
  operator!: OperatorSide;
  /** What the robot knows about networks when it starts, and what it learnt. */
  readonly priors: Priors = {};
  readonly learnt: { network: string; prior: PriorJson }[] = [];
  readonly #options: SimulatedOptions;
  readonly #robotSeat: Seat;
  readonly #robotOutbox: Outbox;
  #operatorSeat: Seat | null = null;
  #operators = 0;

  private constructor(options: SimulatedOptions) {
    this.#options = options;
    this.clock = new ManualClock(options.startNs ?? 100e9);
    // A constant delay makes times predictable.
    const shipped = loadRig(options.rigFile ?? options.rig ?? 'demo', [
      'robot.playout=fixed:60',
      ...(options.overrides ?? []),
    ]).config;
    this.rig =
      options.rig === undefined
        ? shipped
        : { ...shipped, robot: { ...shipped.robot, driver: 'sim', options: {} } };
    this.model = loadModel(this.rig.model);
    this.impair = () => (options.delayMs ?? 2) * MS;
    this.network = new LocalNetwork(
      this.clock,
      (untilNs) => this.clock.advanceTo(untilNs),
      (from, to, nowNs) => this.impair(from, to, nowNs),
    );
    this.#robotSeat = new Seat(this.clock, options.robotOffsetNs ?? 0);
    const { outbox, attach } = this.network.endpoint(ROBOT_HOST, ROBOT_PORTS);
    attach(this.#robotSeat);
    this.#robotOutbox = this.#robotSeat.outbox(outbox);
  }

  static async create(options: SimulatedOptions = {}): Promise<SimulatedRig> {
    const rig = new SimulatedRig(options);
    if (options.start === false) return rig;
    await rig.startRobot(7);
    await rig.startOperator(1001);
    return rig;
  }

  get nowNs(): number {
    return this.clock.nowNs();
  }

  stepClock(role: 'operator' | 'robot', byNs: number): void {
    (role === 'robot' ? this.#robotSeat : this.#operatorSeat)?.step(byNs);
  }

  /** The role stalls, then receives at once everything that arrived meanwhile. */
  stall(role: 'operator' | 'robot', ms: number, datagramsFirst = true): void {
    const seat = (role === 'robot' ? this.#robotSeat : this.#operatorSeat)!;
    seat.freeze();
    this.runFor(ms);
    seat.thaw(datagramsFirst);
  }

  /** A new robot process at the same address; the old one, if any, disappears without a goodbye. */
  async startRobot(boot: number): Promise<void> {
    const { rig, model } = this;
    const { clock } = this.#robotSeat;
    const plugin = await loadPlugin('driver', rig.robot.driver);
    const options = pluginConfig('driver', rig.robot.driver, plugin, rig.robot.options);
    const arm = await plugin.open(options, model, clock);
    const inner = this.#options.wrapDriver?.(arm, clock, model.joints.length) ?? arm;
    const driver = new RecordingDriver(inner, this.clock, judgedJoints(rig, model));
    const policy = rigPolicy(rig);
    const side: Omit<RobotSide, 'loop'> = {
      policy,
      driver,
      counters: new Counters(),
      transitions: [],
      answers: [],
    };
    const loop = new RobotLoop({
      rig,
      model,
      driver,
      policy,
      priors: this.priors,
      onLearnt: (network, prior) => this.learnt.push({ network, prior }),
      outbox: this.#tapAnswers(side.answers),
      clock,
      boot,
      counters: side.counters,
      lateness: new DurationHistogram(),
      board: SnapshotBoard.create(ROBOT_BOARD.size(model.joints.length)),
      onTransition: (transition) => side.transitions.push(transition),
      windDown: new Int32Array(1),
      onFinished: () => assert.fail('unexpected end of the robot'),
    });
    this.robot = { ...side, loop };
    this.#robotSeat.loop = loop;
  }

  #tapAnswers(answers: RobotSide['answers']): Outbox {
    const receipt = emptyReceipt();
    return {
      send: (socket, bytes, length, to) => {
        if (frameType(bytes, length) === 'receipt' && decodeReceipt(bytes, length, receipt) === null)
          answers.push({ seq: receipt.seq, outcome: receipt.outcome, atNs: this.nowNs });
        return this.#robotOutbox.send(socket, bytes, length, to);
      },
    };
  }

  /** A new operator process on new ports; the old one, if any, disappears without a goodbye. */
  async startOperator(session: number): Promise<void> {
    this.stopOperator();
    const { operator, seat } = await this.#openOperator(session);
    this.operator = operator;
    this.#operatorSeat = seat;
  }

  /** One more operator beside the first, which holds the lease. */
  async addOperator(session: number): Promise<OperatorSide> {
    return (await this.#openOperator(session)).operator;
  }

  async #openOperator(session: number): Promise<{ operator: OperatorSide; seat: Seat }> {
    const { rig, model } = this;
    const seat = new Seat(this.clock, this.#options.operatorOffsetNs ?? 0);
    // Command, state, sync, desk, and four for inputs that listen.
    const ports = [0, 1, 2, 3, 4, 5, 6, 7].map((socket) => 40_000 + 10 * this.#operators + socket);
    this.#operators++;
    const { outbox, attach } = this.network.endpoint(OPERATOR_HOST, ports);
    const side: Omit<OperatorSide, 'loop'> = {
      session,
      counters: new Counters(),
      closed: [],
      finished: false,
      windDown: new Int32Array(1),
      peers: ports.map((port) => peerOf(OPERATOR_HOST, port)),
    };
    const operator = { ...side } as OperatorSide;
    operator.loop = new OperatorLoop({
      rig,
      model,
      inputs: await this.#inputs(seat.clock, side.counters),
      outbox: this.#tapOperator(seat.outbox(outbox)),
      clock: seat.clock,
      robot: { command: robotPeer(0), state: robotPeer(1), sync: robotPeer(2) },
      session,
      counters: side.counters,
      lateness: new DurationHistogram(),
      board: SnapshotBoard.create(BOARD.size(model.joints.length)),
      onClosed: (record) => side.closed.push(TRACE.plain(record)),
      onJoints: (...joints) => this.onJoints(...joints),
      windDown: side.windDown,
      onFinished: () => {
        operator.finished = true;
        seat.loop = null;
      },
    });
    seat.loop = operator.loop;
    attach(seat);
    return { operator, seat };
  }

  #tapOperator(outbox: Outbox): Outbox {
    return {
      send: (socket, bytes, length, to) => {
        this.onOperatorSend(socket, bytes.slice(0, length));
        return outbox.send(socket, bytes, length, to);
      },
    };
  }

  async #inputs(clock: Clock, counters: Counters): Promise<Map<string, OpenInput>> {
    const { hand } = this.#options;
    if (hand !== undefined) return new Map([[this.rig.operator.input, { device: hand, automatic: false }]]);
    return openInputs(this.rig, clock, (reason) => counters.add(reason));
  }

  stopOperator(): void {
    if (this.#operatorSeat !== null) this.#operatorSeat.loop = null;
  }

  stopRobot(): void {
    this.#robotSeat.loop = null;
  }

  runFor(ms: number): void {
    this.network.run(this.nowNs + ms * MS);
  }

  /** Runs until `isSo` holds, or fails after `withinMs`; returns how long it took. */
  runUntil(isSo: () => boolean, withinMs: number): number {
    const startNs = this.nowNs;
    while (!isSo()) {
      assert.ok(this.nowNs - startNs < withinMs * MS, `not so within ${withinMs} ms: ${isSo}`);
      this.runFor(1);
    }
    return (this.nowNs - startNs) / MS;
  }

  get state(): string {
    return this.robot.loop.supervisor.state;
  }

  /** The states the robot went through, oldest first. */
  get path(): string[] {
    return this.robot.transitions.map(({ to }) => to);
  }

  ask(action: 'arm' | 'disarm' | 'estop' | 'reset'): void {
    this.operator.loop.ask(action, this.#operatorSeat!.clock.nowNs());
  }

  /** Sends a playout request like the console. */
  askPlayout(quality: string): void {
    this.request({ kind: 'playout', quality });
  }

  /** Sends a request like the page, through the console. */
  request(body: object): void {
    const bytes = new Uint8Array(200);
    const length = writeFrame('request', body, bytes);
    const nowNs = this.#operatorSeat!.clock.nowNs();
    this.operator.loop.onDatagram(OPERATOR_SOCKETS.desk, bytes, length, 1, nowNs, Number.NaN);
  }

  /** Acts like a person: waits until the robot can follow, then closes the open clutch. */
  grip({ hand }: TestHand): void {
    hand.clutch = false;
    this.runUntil(() => this.state === 'armed' || this.state === 'hold', 1000);
    this.runFor(50);
    hand.clutch = true;
    this.runUntil(() => this.state === 'engaged', 1000);
  }

  /** Lets the operator disconnect properly. */
  windDown(): void {
    this.operator.windDown[0] = 1;
    this.runUntil(() => this.operator.finished, 1000);
  }

  /** Largest change of any joint between consecutive writes from `fromNs` on, in rad/s. */
  maxSpeedRadS(fromNs = 0): number {
    const writes = this.robot.driver.writes.filter(({ atNs }) => atNs >= fromNs);
    let max = 0;
    for (let i = 1; i < writes.length; i++) {
      const dtS = Math.max(0.005, (writes[i]!.atNs - writes[i - 1]!.atNs) / 1e9);
      writes[i]!.positionsRad.forEach((rad, j) => {
        max = Math.max(max, Math.abs(rad - writes[i - 1]!.positionsRad[j]!) / dtS);
      });
    }
    return max;
  }

  appliedSeqs(): number[] {
    return this.robot.answers.filter(({ outcome }) => isApplied(outcome)).map(({ seq }) => seq);
  }
}

/** The model's limits, scaled by the rig's percentages. */
export const judgedJoints = ({ robot }: Rig, { joints }: RobotModel): JudgedJoint[] =>
  joints.map((joint) => ({
    ...joint,
    maxVelocityRadS: (joint.maxVelocityRadS * robot.speedPercent) / 100,
    maxAccelerationRadS2: (joint.maxAccelerationRadS2 * robot.accelerationPercent) / 100,
    maxJerkRadS3: (joint.maxJerkRadS3 * robot.jerkPercent) / 100,
  }));

export const isApplied = (outcome: string): boolean => outcome === 'applied' || outcome === 'late';
