import type { Counters, Reason } from '../core/counters.ts';
import type { SnapshotBoard } from '../core/memory/snapshot.ts';
import { parseJson } from '../core/parse-json.ts';
import type { DurationHistogram } from '../core/statistics/histogram.ts';
import { type Clock, NS_PER_MS } from '../core/time/clock.ts';
import { Periodic } from '../core/time/periodic.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { emptyQuality, type InputDevice } from '../input/device.ts';
import { createArmMapper } from '../mapping/arm-mapper.ts';
import { createHandMapper } from '../mapping/hand-mapper.ts';
import { withJointTargets } from '../mapping/joint-follower.ts';
import type { Guidance, Mapper } from '../mapping/mapper.ts';
import type { DeskAction } from '../messages/desk-action.ts';
import { type DeskActionRequest, deskActionSchema } from '../messages/desk-requests.ts';
import { copyMotorHealth } from '../messages/motor-health.ts';
import type { PlayoutMode } from '../messages/playout-request.ts';
import { LIMITED_BY, type LimitedBy } from '../messages/robot-state.ts';
import type { OperatorMode } from '../messages/telemetry.ts';
import type { PackedTrace } from '../messages/trace-record.ts';
import { WORLD_STATE } from '../messages/world-state.ts';
import type { Rig } from '../rig/rig.ts';
import { frameType, TAG_BYTES } from '../wire/codecs/frame.ts';
import { decodeState, type StateOrigin } from '../wire/codecs/state.ts';
import { decodeWorld } from '../wire/codecs/world.ts';
import type { DatagramHandler, Outbox, Peer } from '../wire/reactor.ts';
import type { SharedClock } from '../wire/shared-clock.ts';
import { BOARD, BOARD_INPUTS, BoardText, fillHand, fillTotals } from './board.ts';
import { CommandSource, type IssuedCommand } from './command-source.ts';
import { DeskClient } from './desk-client.ts';
import { HaltWatch } from './halt-watch.ts';
import { HelloClient } from './hello-client.ts';
import { Homing } from './homing.ts';
import type { JointsKind } from './joints-ring.ts';
import { LinkClient } from './link-client.ts';
import { PersonFeed } from './person-board.ts';
import { PressWatch } from './press-watch.ts';
import { RobotView } from './robot-view.ts';
import type { CommandRows } from './row-feed.ts';
import { type OpenInput, Sampler } from './sampler.ts';
import { surroundingsOf } from './surroundings.ts';
import { SyncClient } from './sync-client.ts';

/** Order of the operator's sockets. */
export const OPERATOR_SOCKETS = { command: 0, state: 1, sync: 2, desk: 3, firstInput: 4 } as const;

export interface OperatorParts {
  rig: Rig;
  model: RobotModel;
  /** Model of the other arm of a pair. */
  neighbour?: RobotModel | null;
  inputs: ReadonlyMap<string, OpenInput>;
  outbox: Outbox;
  clock: Clock;
  /** To recognise a robot with the same clock; absent in simulations. */
  shared?: SharedClock;
  robot: { command: Peer; state: Peer; sync: Peer };
  session: number;
  /** First tick; now if absent. */
  startNs?: number;
  /** Of another arm of the same robot process: both arms then have one clock relation. */
  sync?: SyncClient;
  counters: Counters;
  /** Lateness of every deadline the loop woke for. */
  lateness: DurationHistogram;
  board: SnapshotBoard;
  /** Gets the robot's simulated world, if it has one. */
  world?: SnapshotBoard;
  onClosed: (record: PackedTrace) => void;
  /** Feeds a recorder, after the command was sent. */
  rows?: CommandRows;
  /**
   * Commanded joints when the hand was sampled (operator clock), and measured joints (robot clock). Hot path.
   */
  onJoints?: (kind: JointsKind, ns: number, seq: number, positionsRad: Float64Array) => void;
  /** People whose hands were measured while the loop runs. */
  person?: SharedArrayBuffer;
  /** Non-zero requests that the loop wind down; it calls `onFinished` once the last receipts are in. */
  windDown: Int32Array;
  /** Set on an e-stop, so that it is also sent by other routes. */
  estop?: Int32Array;
  onFinished: () => void;
}

const HELLO_HZ = 5;
const WIND_DOWN_NS = 300e6;

/** The operator role, sans I/O: ticks and datagrams in, datagrams and closed traces out. */
export class OperatorLoop implements DatagramHandler {
  readonly link: LinkClient;
  readonly sync: SyncClient;
  readonly sampler: Sampler;
  readonly robot: RobotView;
  readonly #parts: OperatorParts;
  readonly #ticks: Periodic;
  readonly #hellos: Periodic;
  readonly #mapper: Mapper;
  readonly #commandSource: CommandSource;
  readonly #desk: DeskClient;
  readonly #hands: Mapper;
  readonly #people: PersonFeed | null;
  readonly #halts = new HaltWatch();
  readonly #inputNames: string[];
  readonly #shown;
  readonly #boardText = new BoardText();
  readonly #world = WORLD_STATE.create();
  readonly #origin: StateOrigin = { boot: 0, session: 0 };
  readonly #hello: HelloClient;
  readonly #quality = emptyQuality();
  #partner: OperatorLoop | null = null;
  #boot = 0;
  readonly #presses = new PressWatch();
  #autoArm: boolean;
  #windDownNs = Number.POSITIVE_INFINITY;

  constructor(parts: OperatorParts) {
    const { rig, model, outbox, clock, counters, robot, session } = parts;
    const { command, state, sync } = OPERATOR_SOCKETS;
    const joints = model.joints.length;
    const hands =
      model.family === 'hand'
        ? createHandMapper(model, rig.operator.hand)
        : createArmMapper(model, rig.operator.mapper, surroundingsOf(model, rig.robot, parts.neighbour));
    const pathLimits = {
      speedRadS: rig.operator.homeSpeedRadS,
      speedFraction: rig.robot.speedPercent / 100,
    };
    this.#people = parts.person === undefined ? null : new PersonFeed(parts.person);
    this.#hands = hands;
    this.#mapper = withJointTargets(hands, model, pathLimits, () => counters.add('joint-leap'));
    this.#parts = parts;
    const startNs = parts.startNs ?? clock.nowNs();
    this.#ticks = new Periodic(rig.operator.hz, startNs);
    this.#hellos = new Periodic(HELLO_HZ, startNs);
    this.#autoArm = rig.operator.autoArm;
    this.#inputNames = [...parts.inputs.keys()];
    this.#shown = BOARD.create(joints);
    this.robot = new RobotView(joints, parts.neighbour?.joints.length);
    this.sampler = new Sampler(parts.inputs, rig.operator.input, rig.operator.roles);
    const wallErrorNs = rig.link.clock === 'wall' ? rig.link.wallErrorMs * NS_PER_MS : null;
    this.sync =
      parts.sync ?? new SyncClient(outbox, sync, robot.sync, clock, counters, parts.shared, wallErrorNs);
    this.link = new LinkClient(
      outbox,
      command,
      robot.command,
      clock,
      this.sync.sync,
      counters,
      joints,
      () => (rig.link.redundancy === 'auto' ? this.robot.state.repeat : rig.link.redundancy),
      this.#halts,
      parts.onClosed,
    );
    this.#desk = new DeskClient(outbox, command, robot.command, session, counters);
    const { playoutQuality: quality, playoutCapMs: capMs, outageHoldS } = rig.operator;
    const request = { quality, capMs };
    this.#hello = new HelloClient(outbox, state, robot.state, session, request, outageHoldS, counters);
    this.#commandSource = new CommandSource({
      mapper: this.#mapper,
      homing: new Homing(model, pathLimits),
      robot: this.robot,
      counters,
      joints,
      session,
      restartInput: () => this.sampler.restart(),
    });
    this.sampler.topic.subscribe((hand) => this.#commandSource.onHand(hand));
    this.#commandSource.topic.subscribe((issued) => this.link.send(issued));
    const { rows, onJoints } = parts;
    if (rows !== undefined)
      this.#commandSource.topic.subscribe((issued) =>
        rows.onCommand(issued, this.robot.state, this.sync.sync),
      );
    if (onJoints !== undefined)
      this.#commandSource.topic.subscribe(({ sampledOperatorNs, seq, engagement, positionsRad }) =>
        onJoints(engagement === 0 ? 'idle' : 'command', sampledOperatorNs, seq, positionsRad),
      );
  }

  get mode(): OperatorMode {
    return this.#commandSource.mode;
  }

  /** The other arm: from now on they are one robot, and a stop of one is a stop of both. */
  join(partner: OperatorLoop): void {
    this.#partner = partner;
    this.robot.partner = partner.robot;
  }

  /** Every command as it is published, and the newest one; both reuse one object. */
  onCommand(listener: (command: IssuedCommand) => void): void {
    this.#commandSource.topic.subscribe(listener);
  }

  get lastCommand(): Readonly<IssuedCommand> {
    return this.#commandSource.command;
  }

  /** The point of the arm that follows the hand; undefined if none does. */
  get guidance(): Guidance | undefined {
    return this.#mapper.guidance;
  }

  nextDeadlineNs(): number {
    return Math.min(this.#ticks.nextNs, this.#hellos.nextNs, this.sync.nextProbeNs);
  }

  onDeadline(nowNs: number): void {
    this.#parts.lateness.add(Math.round(nowNs - this.nextDeadlineNs()));
    if (this.#ticks.due(nowNs)) this.#tick(nowNs);
    this.sync.tick(nowNs);
    if (!this.#hellos.due(nowNs)) return;
    this.#hello.send();
    const person = this.#people?.next() ?? null;
    if (person !== null) this.#hands.usePerson?.(person);
  }

  #tick(nowNs: number): void {
    if (this.#windDown(nowNs)) return;
    this.#takePress(nowNs);
    this.sampler.tick(nowNs);
    this.#halts.input(this.sampler.hand.status === 'stale', nowNs);
    if (this.sampler.hand.sample.estop) this.ask('estop', nowNs);
    this.#desk.tick(this.robot.state, nowNs);
    this.link.expire(nowNs);
    this.#publish(nowNs);
  }

  #takePress(nowNs: number): void {
    const pressed = this.#presses.take(this.sampler);
    if (pressed === 'hand-back') this.sampler.handBack();
    else if (pressed === 'arm' && this.sampler.requestTakeOver()) return;
    else if (pressed === 'arm' && this.robot.state.state === 'hold') this.#commandSource.teleop();
    else if (pressed !== null) this.ask(pressed, nowNs);
  }

  /** On a request to end: one command that releases, a short wait for the last receipts, then done. */
  #windDown(nowNs: number): boolean {
    if (Atomics.load(this.#parts.windDown, 0) === 0) return false;
    if (this.#windDownNs === Number.POSITIVE_INFINITY) {
      this.#windDownNs = nowNs + WIND_DOWN_NS;
      this.#commandSource.finish();
      this.sampler.tick(nowNs);
    }
    if (nowNs >= this.#windDownNs) {
      this.link.expire(nowNs, 0);
      this.#hello.bye();
      this.#publish(nowNs);
      this.#parts.onFinished();
    }
    return true;
  }

  /** Sends a request to the robot's supervisor; an e-stop is sent within this call. */
  ask(action: DeskAction, nowNs: number): void {
    if (action === 'estop') this.#partner?.askAlone(action, nowNs);
    this.askAlone(action, nowNs);
  }

  /** Leaves the other arm as it is. */
  askAlone(action: DeskAction, nowNs: number): void {
    if (action === 'arm') this.#commandSource.arm();
    else this.#commandSource.stopHoming();
    this.#desk.ask(action, this.robot.state.epoch, nowNs);
    if (action === 'estop' && this.#parts.estop !== undefined) Atomics.store(this.#parts.estop, 0, 1);
  }

  /** The other arm has stopped. On two machines, this is the only way in which this one learns of it. */
  stopToo(nowNs: number): void {
    if (this.robot.state.state !== 'stopped') this.askAlone('estop', nowNs);
  }

  /** Stops following until a hand engages again. */
  hold(): void {
    this.#commandSource.hold();
  }

  onOversize(): void {
    this.#parts.counters.add('oversize');
  }

  onDatagram(
    socket: number,
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): void {
    const reason = this.#accept(socket, bytes, length, from, receivedNs, kernelNs);
    if (reason !== null) this.#parts.counters.add(reason);
  }

  #accept(
    socket: number,
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): Reason | null {
    const { robot } = this.#parts;
    if (socket >= OPERATOR_SOCKETS.firstInput) {
      const arrivedNs = Number.isNaN(kernelNs) ? receivedNs : kernelNs;
      return this.#onInput(socket - OPERATOR_SOCKETS.firstInput, bytes, length, from, arrivedNs);
    }
    const type = frameType(bytes, length);
    if (length === 0) return 'empty';
    if (type === null) return 'bad-tag';
    if (socket === OPERATOR_SOCKETS.desk) return this.#onDesk(type, bytes, length, from, receivedNs);
    if (socket === OPERATOR_SOCKETS.command) {
      if (from !== robot.command) return 'unknown-source';
      if (type === 'state') return this.#desk.onEstopAnswer(bytes, length, receivedNs);
      return type === 'receipt' ? this.link.onReceipt(bytes, length) : 'wrong-port';
    }
    if (socket === OPERATOR_SOCKETS.state) {
      if (from !== robot.state) return 'unknown-source';
      if (type === 'world') return this.#onWorld(bytes, length);
      return type === 'state' ? this.#onState(bytes, length, receivedNs) : 'wrong-port';
    }
    if (from !== robot.sync) return 'unknown-source';
    return type === 'probeReply' ? this.sync.onReply(bytes, length, receivedNs, kernelNs) : 'wrong-port';
  }

  #onState(bytes: Uint8Array, length: number, receivedNs: number): Reason | null {
    const { spare } = this.robot;
    const reason = decodeState(bytes, length, spare, this.#origin);
    if (reason !== null) return reason;
    if (this.#origin.session !== this.#parts.session) return 'unknown-source';
    const isNewRobot = this.#origin.boot !== this.#boot;
    if (isNewRobot) {
      this.#boot = this.#origin.boot;
      this.#commandSource.disengage();
    } else if (spare.robotNs <= this.robot.state.robotNs) return 'dropped-stale';
    const wasStopped = this.robot.state.state === 'stopped';
    this.robot.accept(receivedNs);
    if (!wasStopped && this.robot.state.state === 'stopped') this.#partner?.stopToo(receivedNs);
    this.#hands.neighbourAt?.(this.robot.state.otherRad);
    this.#halts.state(this.robot.state, isNewRobot, receivedNs, this.#commandSource.silencedNs);
    const { robotNs, appliedSeq, positionsRad } = this.robot.state;
    if (this.robot.hasPose) this.#parts.onJoints?.('state', robotNs, appliedSeq, positionsRad);
    this.#desk.received(this.robot.state, receivedNs);
    // A robot that has not read its joints cannot be armed.
    if (this.#autoArm && this.robot.hasPose) {
      // If the robot is stopped, a person must reset and arm it.
      this.#autoArm = false;
      if (this.robot.state.state === 'idle') this.ask('arm', receivedNs);
    }
    return null;
  }

  #onWorld(bytes: Uint8Array, length: number): Reason | null {
    const decoded = decodeWorld(bytes, length, this.#world, this.#origin);
    if (typeof decoded === 'string') return decoded;
    if (this.#origin.session !== this.#parts.session) return 'unknown-source';
    this.#parts.world?.write(this.#world.packed, decoded.task);
    this.sampler.see(this.#world, decoded.task);
    return null;
  }

  /** A datagram on an input's socket. */
  #onInput(index: number, bytes: Uint8Array, length: number, from: Peer, arrivedNs: number): Reason | null {
    const route = this.sampler.routes[index];
    if (route === undefined) return 'wrong-port';
    return this.#ingest(route.device, bytes, length, from, route.socket, arrivedNs);
  }

  /** An e-stop in the bytes is sent immediately, whichever input is active. */
  #ingest(
    device: InputDevice,
    bytes: Uint8Array,
    length: number,
    from: Peer,
    socket: number,
    arrivedNs: number,
  ): Reason | null {
    const reason = device.ingest(bytes, length, arrivedNs, from, socket);
    if (reason === null) this.sampler.received(device, arrivedNs);
    if (device.estop === true) this.ask('estop', arrivedNs);
    return reason;
  }

  /** A datagram from the console on this machine: requests and the page's hand. */
  #onDesk(type: string, bytes: Uint8Array, length: number, from: Peer, receivedNs: number): Reason | null {
    if (type === 'hand' || type === 'hands') {
      const device = this.sampler.deskInput(type);
      if (device === undefined) return 'unknown-source';
      return this.#ingest(device, bytes.subarray(TAG_BYTES, length), length - TAG_BYTES, from, 0, receivedNs);
    }
    if (type !== 'request') return 'wrong-port';
    const request = parseJson(bytes.subarray(TAG_BYTES, length), deskActionSchema, length);
    return typeof request === 'string' ? request : this.#do(request, receivedNs);
  }

  #do(request: DeskActionRequest, receivedNs: number): Reason | null {
    const { kind } = request;
    if (kind === 'home') return this.#commandSource.home(receivedNs);
    if (kind === 'hand-back') return this.sampler.handBack() ? null : 'malformed';
    if (kind === 'take-over') return this.sampler.requestTakeOver() ? null : 'malformed';
    if (kind === 'input') return this.sampler.choose(request.name) ? null : 'malformed';
    if (kind === 'world') {
      this.#desk.ask('world', this.robot.state.epoch, receivedNs, { task: request.task, seed: request.seed });
      return null;
    }
    if (kind === 'drive') return 'malformed';
    if (kind === 'playout-mode') return this.#requestMode(request.mode);
    if (kind === 'playout') this.#hello.change({ quality: request.quality });
    else if (kind === 'hold' || kind === 'teleop') this.#commandSource[kind]();
    else this.ask(kind, receivedNs);
    return null;
  }

  /** Only for a robot that reports its playout as switchable. */
  #requestMode(mode: PlayoutMode): Reason | null {
    if (!this.robot.state.playout) return 'malformed';
    this.#hello.change({ mode });
    return null;
  }

  #publish(nowNs: number): void {
    const out = this.#shown;
    const { sync } = this.sync;
    out.operatorNs = nowNs;
    out.stateReceivedNs = this.robot.receivedNs;
    out.stateRobotNs = this.robot.state.robotNs;
    out.offsetNs = sync.offsetAt(nowNs);
    out.uncertaintyNs = sync.uncertaintyNs;
    out.driftPpm = sync.driftPpm;
    out.quality = this.#hello.request.quality;
    out.mode = this.#commandSource.mode;
    out.mapping = this.#commandSource.mapped;
    out.filterDelayNs = this.#commandSource.command.filterDelayNs;
    out.driver = this.#commandSource.command.source;
    out.isInterrupted = this.sampler.isInterrupted;
    out.mustOpenClutch = this.#commandSource.mustOpenClutch;
    out.disagreementRad = this.#commandSource.command.disagreementRad;
    out.commandedRad.set(this.#commandSource.command.positionsRad);
    out.estopNs = this.#desk.estopNs;
    out.estopConfirmedNs = this.#desk.estopConfirmedNs;
    this.#publishInputs(nowNs);
    fillHand(out, this.sampler.hand.sample);
    fillTotals(out, this.link.totals);
    const robot = this.robot.state;
    out.robotState = robot.state;
    out.epoch = robot.epoch;
    out.gripper = robot.gripper;
    this.#publishLimit(robot.limitedBy);
    out.clearanceM = robot.clearanceM;
    out.measuredRad.set(robot.positionsRad);
    out.targetRad.set(robot.targetRad);
    copyMotorHealth(robot.motors, out);
    out.externalNm.set(robot.externalNm);
    out.gripperN = robot.gripperN;
    this.#parts.board.write(out.packed, this.#boardText.of(robot.cause, robot.nearest, robot.playout));
  }

  /** The more serious of what limits the robot and what keeps the mapping from following the hand. */
  #publishLimit(ofRobot: LimitedBy): void {
    const { guidance } = this.#mapper;
    const ofMapping = this.robot.state.state === 'engaged' ? (guidance?.limitedBy ?? '') : '';
    const isMapping = LIMITED_BY.indexOf(ofMapping) >= LIMITED_BY.indexOf(ofRobot) && ofMapping !== '';
    this.#shown.limitedBy = isMapping ? ofMapping : ofRobot;
    if (isMapping) this.#shown.limitTowards.set(guidance!.towards);
    else this.#shown.limitTowards.fill(Number.NaN);
  }

  #publishInputs(nowNs: number): void {
    const out = this.#shown;
    out.input = this.#inputNames.indexOf(this.sampler.active);
    out.inputStatus = this.sampler.hand.status;
    out.recordPresses = this.sampler.recordPresses;
    this.sampler.quality(nowNs, this.#quality);
    out.inputRateHz = this.#quality.rateHz;
    out.inputJitterNs = this.#quality.jitterNs;
    for (let i = 0; i < Math.min(BOARD_INPUTS, this.#inputNames.length); i++) {
      this.sampler.quality(nowNs, this.#quality, this.#inputNames[i]!);
      out.inputRatesHz[i] = this.#quality.rateHz;
      out.inputJittersNs[i] = this.#quality.jitterNs;
      out.inputSenders[i] = this.#quality.from;
    }
  }
}
