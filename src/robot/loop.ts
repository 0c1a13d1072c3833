import type { Counters, Reason } from '../core/counters.ts';
import type { SnapshotBoard } from '../core/memory/snapshot.ts';
import type { DurationHistogram } from '../core/statistics/histogram.ts';
import { type Clock, NS_PER_S } from '../core/time/clock.ts';
import { Periodic } from '../core/time/periodic.ts';
import { neighbourOf } from '../geometry/neighbour.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { JointCommand } from '../messages/command.ts';
import { copyMotorHealth } from '../messages/motor-health.ts';
import type { Outcome, Receipt } from '../messages/receipt.ts';
import { ROBOT_BOARD, writeRobotBoard } from '../messages/robot-board.ts';
import type { RobotState } from '../messages/robot-state.ts';
import { WORLD_STATE } from '../messages/world-state.ts';
import {
  copyCommand,
  decodeCommand,
  type EarlierCommands,
  emptyCommand,
  emptyEarlier,
} from '../wire/codecs/command.ts';
import { type DeskMessage, decodeDesk, decodeHello, emptyDesk } from '../wire/codecs/desk.ts';
import { frameType } from '../wire/codecs/frame.ts';
import { encodeReceipt } from '../wire/codecs/receipt.ts';
import { emptyState, encodeState } from '../wire/codecs/state.ts';
import { encodeWorld } from '../wire/codecs/world.ts';
import {
  type DatagramHandler,
  MAX_DATAGRAM_BYTES,
  type Outbox,
  type Peer,
  peerAddress,
} from '../wire/reactor.ts';
import { OperatorLease, SILENCE_NS } from '../wire/session.ts';
import type { SharedClock } from '../wire/shared-clock.ts';
import { ClockReplies } from './clock-replies.ts';
import type { Driver } from './driver.ts';
import { EstopPresses } from './estop-presses.ts';
import { HelloSettings } from './hello-settings.ts';
import { LossMeter } from './loss-meter.ts';
import { NetworkLearning } from './network-learning.ts';
import type { Priors } from './network-memory.ts';
import { OperatorHello } from './operator-hello.ts';
import { PairWatch } from './pair-watch.ts';
import type { PriorJson } from './playout/adaptive/prior.ts';
import type { PlayoutPolicy } from './playout/playout-policy.ts';
import { CommandQueue } from './playout/queue.ts';
import { Receipts } from './receipts.ts';
import type { RobotConfig } from './robot-config.ts';
import { reportSupervisor } from './state-report.ts';
import type { FlightRecorder } from './supervisor/flight-recorder.ts';
import type { Transition } from './supervisor/states.ts';
import { Supervisor } from './supervisor/supervisor.ts';
import { TOPIC_PEER, TopicCommander } from './topic-commander.ts';

/** Order of the robot's sockets. */
const ROBOT_SOCKETS = { command: 0, state: 1, sync: 2 } as const;

export interface RobotParts {
  rig: { robot: RobotConfig };
  model: RobotModel;
  driver: Driver;
  policy: PlayoutPolicy;
  /** What earlier sessions learnt about each network, by name; `onLearnt` saves it. */
  priors: Priors;
  onLearnt: (network: string, prior: PriorJson) => void;
  outbox: Outbox;
  clock: Clock;
  /** First cycle; now if absent. */
  startNs?: number;
  /** Sent with clock replies; absent in simulations. */
  shared?: SharedClock;
  /** Random per start, so that the operator notices a restarted robot process. */
  boot: number;
  counters: Counters;
  lateness: DurationHistogram;
  board: SnapshotBoard;
  /** Gets the simulated world, if the driver has one. */
  world?: SnapshotBoard;
  onTransition: (transition: Transition) => void;
  /** Keeps the last seconds; absent in simulations. */
  flight?: FlightRecorder;
  /** The other arm of a pair, and the board with its newest pose. */
  neighbour?: RobotModel | null;
  pair?: SharedArrayBuffer;
  /** Commands from a topic; used if the rig has one. */
  topics?: SharedArrayBuffer;
  /** Non-zero requests that the loop stop the robot and finish. */
  windDown: Int32Array;
  /** Set by the fleet agent, cleared by the loop: an e-stop, and the end of the operator's lease. */
  fleet?: { estop: Int32Array; leaseOver: Int32Array };
  onFinished: () => void;
}

/** One second of commands at 1 kHz, the longest that playout may hold them. */
const QUEUE_CAPACITY = 1024;
const MOTORS_HZ = 5;
/** Messages about a simulated world per second: for people to see. */
const WORLD_HZ = 30;

/** The robot role, sans I/O: receive → queue → playout → supervisor → driver → receipt. */
export class RobotLoop implements DatagramHandler {
  readonly supervisor: Supervisor;
  readonly queue: CommandQueue;
  readonly #parts: RobotParts;
  readonly #lease: OperatorLease;
  readonly #cycles: Periodic;
  readonly #states: Periodic;
  /** State messages that also report the motors. */
  readonly #motors: Periodic;
  readonly #bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
  readonly #receipts: Receipts;
  readonly #desk = emptyDesk();
  readonly #newest: JointCommand;
  readonly #earlier: EarlierCommands;
  readonly #clockReplies: ClockReplies;
  readonly #state;
  readonly #snapshot;
  readonly #worlds: Periodic;
  readonly #world = WORLD_STATE.create();
  #task = '';
  readonly #learning: NetworkLearning;
  readonly #loss = new LossMeter();
  readonly #pairWatch: PairWatch | null;
  readonly #topics: TopicCommander | null;
  readonly #hello = new OperatorHello();
  #commandPeer: Peer = 0;
  #newestSeq = 0;
  #ackRequest = 0;
  readonly #presses = new EstopPresses();
  readonly #settings: HelloSettings;

  constructor(parts: RobotParts) {
    const { rig, model, driver, counters, clock, onTransition } = parts;
    const joints = model.joints.length;
    const nowNs = parts.startNs ?? clock.nowNs();
    this.#parts = parts;
    this.#cycles = new Periodic(rig.robot.controlHz, nowNs);
    this.#states = new Periodic(rig.robot.stateHz, nowNs);
    this.#motors = new Periodic(MOTORS_HZ, nowNs);
    this.#worlds = new Periodic(WORLD_HZ, nowNs);
    const beside = neighbourOf(rig.robot.pair, parts.neighbour ?? null);
    this.#state = emptyState(joints, beside?.model.joints.length);
    this.#newest = emptyCommand(joints);
    this.#earlier = emptyEarlier(joints);
    this.#snapshot = ROBOT_BOARD.create(joints);
    this.#learning = new NetworkLearning(parts.policy, parts.priors, rig.robot.network, parts.onLearnt);
    this.#clockReplies = new ClockReplies(clock, parts.boot, parts.shared);
    this.#lease = new OperatorLease(rig.robot.allowTakeover);
    this.#settings = new HelloSettings(parts.policy, rig.robot.maxOutageHoldS);
    this.queue = new CommandQueue(QUEUE_CAPACITY, () => emptyCommand(joints));
    this.#receipts = new Receipts(driver.handOver, counters, (receipt) => this.#sendReceipt(receipt));
    const { flight } = parts;
    this.supervisor = new Supervisor(model, driver, rig.robot, counters, nowNs, onTransition, flight, beside);
    const { topics } = rig.robot;
    this.#topics =
      topics === null || parts.topics === undefined
        ? null
        : new TopicCommander(parts.topics, model, topics, parts.boot, this.#lease, this.supervisor, counters);
    this.#pairWatch =
      beside === null || parts.pair === undefined
        ? null
        : new PairWatch(parts.pair, beside.model.joints.length, rig.robot.pair!.silenceMs);
  }

  nextDeadlineNs(): number {
    return Math.min(this.#cycles.nextNs, this.#states.nextNs, this.queue.nextDueNs);
  }

  onDeadline(nowNs: number): void {
    const cycleNs = Math.min(this.#cycles.nextNs, this.#states.nextNs);
    if (nowNs >= cycleNs) this.#parts.lateness.add(Math.round(nowNs - cycleNs));
    this.#receipts.settle(nowNs);
    while (this.queue.nextDueNs <= nowNs) this.#release(nowNs);
    if (this.#cycles.due(nowNs)) this.#cycle(nowNs);
    if (this.#states.due(nowNs)) this.#publishState(nowNs);
    if (this.#parts.driver.world && this.#worlds.due(nowNs)) this.#publishWorld(nowNs);
  }

  #cycle(nowNs: number): void {
    if (Atomics.load(this.#parts.windDown, 0) !== 0) {
      this.supervisor.shutDown('robot process is shutting down', nowNs);
      this.#learning.leave(nowNs);
      this.#publishState(nowNs);
      this.#parts.onFinished();
      return;
    }
    if (this.#parts.fleet !== undefined) this.#checkFleet(this.#parts.fleet, nowNs);
    const isHeld = this.#lease.isHeld(nowNs);
    if (this.#lease.session !== 0 && !isHeld) this.#onSilence(nowNs);
    if (isHeld) this.#learning.tick(nowNs);
    this.#topics?.tick(nowNs);
    this.#pairWatch?.tick(nowNs, this.supervisor);
    this.supervisor.tick(nowNs);
    const { queue, supervisor } = this;
    writeRobotBoard(this.#parts.board, this.#snapshot, nowNs, supervisor, queue.releasedSeq, queue.depth);
    this.#readWorld();
  }

  #readWorld(): void {
    const { driver, world: board } = this.#parts;
    if (!driver.world) return;
    this.#task = driver.world.read(this.#world);
    if (this.#task !== '') board?.write(this.#world.packed, this.#task);
  }

  #publishWorld(nowNs: number): void {
    if (this.#task === '' || this.#lease.statePeer === 0 || !this.#lease.isHeld(nowNs)) return;
    const origin = { boot: this.#parts.boot, session: this.#lease.session };
    const length = encodeWorld(origin, this.#task, this.#world, this.#bytes);
    this.#send(ROBOT_SOCKETS.state, length, this.#lease.statePeer);
  }

  /** The operator may have chosen that the arm holds for a while before it stops. */
  #onSilence(nowNs: number): void {
    const { outageHoldS } = this.#settings;
    const isOver = this.#lease.silentNs(nowNs) > SILENCE_NS + outageHoldS * NS_PER_S;
    if (isOver || !this.supervisor.waitForOperator(outageHoldS)) this.supervisor.operatorLost(nowNs);
  }

  #checkFleet({ estop, leaseOver }: NonNullable<RobotParts['fleet']>, nowNs: number): void {
    if (Atomics.exchange(estop, 0, 0) !== 0) {
      this.supervisor.estop('e-stop from the fleet', nowNs);
      this.#publishState(nowNs);
    }
    if (Atomics.exchange(leaseOver, 0, 0) === 0 || !this.#lease.isHeld(nowNs)) return;
    this.supervisor.operatorLost(nowNs, 'lease ended');
    this.#publishState(nowNs);
    this.#lease.release(this.#lease.session, this.#lease.statePeer);
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
    if (length === 0) return 'empty';
    const type = frameType(bytes, length);
    if (type === null) return 'bad-tag';
    if (socket === ROBOT_SOCKETS.command) {
      if (type === 'command') return this.#onCommand(bytes, length, from, receivedNs, kernelNs);
      return type === 'desk' ? this.#onDesk(bytes, length, from, receivedNs) : 'wrong-port';
    }
    if (socket === ROBOT_SOCKETS.state) {
      if (type === 'hello') return this.#onHello(bytes, length, from, receivedNs);
      return type === 'bye' ? this.#onBye(bytes, length, from, receivedNs) : 'wrong-port';
    }
    return type === 'probe' ? this.#onProbe(bytes, length, from, receivedNs, kernelNs) : 'wrong-port';
  }

  #onCommand(
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): Reason | null {
    // Checked before parsing, so that an unknown sender costs only a comparison.
    if (!this.#lease.mayCommand(from)) return 'not-operator';
    const command = this.#newest;
    const malformed = decodeCommand(bytes, length, command, this.#earlier);
    if (malformed !== null) return malformed;
    if (!this.#lease.accept(command.session, from, receivedNs)) return 'not-operator';
    this.#commandPeer = from;
    const receiveNs = this.#parts.clock.nowNs();
    // A released clutch takes effect even if the command is rejected for another reason.
    if (command.seq > this.#newestSeq) {
      this.#newestSeq = command.seq;
      this.supervisor.observe(command, receivedNs);
    }
    const rejected = this.supervisor.admit(command, receivedNs) ?? this.queue.rejection(command.seq);
    if (rejected !== null) {
      // A duplicate keeps the receipt of its first arrival.
      if (rejected !== 'duplicate') this.#reply(command.seq, outcomeOf(rejected), kernelNs, receiveNs);
      return rejected;
    }
    // Only what is accepted: garbage must not look like loss.
    this.#loss.add(command.seq, receivedNs);
    for (let i = 0; i < this.#earlier.count; i++)
      this.#enqueue(this.#earlier.commands[i]!, kernelNs, receiveNs, receivedNs, true);
    if (this.#enqueue(command, kernelNs, receiveNs, receivedNs)) return null;
    this.#reply(command.seq, outcomeOf('dropped-queue-full'), kernelNs, receiveNs);
    return 'dropped-queue-full';
  }

  /** Schedules a command and queues it; skips one that is a duplicate or too late. */
  #enqueue(
    command: JointCommand,
    kernelNs: number,
    receiveNs: number,
    receivedNs: number,
    isRepeated = false,
  ): boolean {
    const entry = this.queue.slot();
    if (entry === null || this.queue.rejection(command.seq) !== null) return false;
    copyCommand(command, entry.command);
    entry.kernelNs = kernelNs;
    entry.receiveNs = receiveNs;
    const { policy } = this.#parts;
    entry.dueNs = policy.schedule(command.sampledRobotNs, receivedNs, command.syncEpoch, isRepeated);
    entry.late = receivedNs > entry.dueNs;
    if (this.queue.insert() !== null) return false;
    this.supervisor.preview(entry.command, entry.dueNs);
    return true;
  }

  /** Releases the oldest due command; it is stale if a newer one is due as well. */
  #release(nowNs: number): void {
    const superseded = this.queue.isSuperseded(nowNs);
    const entry = this.queue.shift()!;
    const receipt = this.#receipts.next;
    const { command } = entry;
    receipt.dueNs = entry.dueNs;
    receipt.playoutDelayNs = entry.dueNs - (command.sampledRobotNs || entry.receiveNs);
    receipt.queueDepth = this.queue.depth;
    receipt.late = entry.late;
    if (superseded) {
      this.#parts.counters.add('dropped-stale');
      this.#reply(command.seq, 'dropped-stale', entry.kernelNs, entry.receiveNs);
      return;
    }
    receipt.releasedNs = this.#parts.clock.nowNs();
    const heldNs = Math.max(0, entry.dueNs - entry.receiveNs);
    const reason = this.supervisor.submit(command, nowNs, heldNs, entry.dueNs);
    receipt.appliedNs = reason === null ? this.#parts.clock.nowNs() : Number.NaN;
    const outcome = reason === null ? (entry.late ? 'late' : 'applied') : (`rejected:${reason}` as const);
    this.#reply(command.seq, outcome, entry.kernelNs, entry.receiveNs, reason === null);
  }

  #reply(seq: number, outcome: Outcome, kernelNs: number, receiveNs: number, isApplied = false): void {
    this.#receipts.next.session = this.#lease.session;
    this.#receipts.next.seq = seq;
    this.#receipts.reply(outcome, kernelNs, receiveNs, isApplied);
    this.#receipts.next.queueDepth = this.queue.depth;
  }

  #sendReceipt(receipt: Receipt): void {
    const length = encodeReceipt(receipt, this.#bytes);
    this.#send(ROBOT_SOCKETS.command, length, this.#commandPeer);
  }

  #onDesk(bytes: Uint8Array, length: number, from: Peer, nowNs: number): Reason | null {
    const desk = this.#desk;
    const malformed = decodeDesk(bytes, length, desk);
    if (malformed !== null) return malformed;
    const isOperator = this.#lease.accept(desk.session, from, nowNs);
    // Anyone may stop the robot; every other action is reserved for its operator.
    if (desk.action === 'estop') this.#onEstop(desk, from, isOperator, nowNs);
    if (!isOperator) return 'not-operator';
    if (desk.request <= this.#ackRequest) return null;
    if (desk.epoch !== this.supervisor.epoch) return 'wrong-epoch';
    this.#ackRequest = desk.request;
    if (desk.action === 'arm') this.supervisor.arm(nowNs);
    else if (desk.action === 'disarm') this.supervisor.disarm(nowNs);
    else if (desk.action === 'reset') this.supervisor.reset(desk.epoch, nowNs);
    else if (desk.action === 'world')
      this.#parts.driver.world?.request(desk.world?.task ?? '', desk.world?.seed ?? null);
    return null;
  }

  /** Each press stops the robot once. Repeats too are answered, to whoever sent them. */
  #onEstop({ session, request }: DeskMessage, from: Peer, isOperator: boolean, nowNs: number): void {
    const cause = isOperator
      ? 'e-stop pressed'
      : `e-stop pressed at ${peerAddress(from)}, by an operator without control`;
    const isNew = this.#presses.isNew(session, request, from);
    const wasStopped = this.supervisor.state === 'stopped';
    if (isNew || wasStopped) this.supervisor.estop(cause, nowNs);
    if (isOperator) this.#ackRequest = Math.max(this.#ackRequest, request);
    if (isNew && !wasStopped) this.#publishState(nowNs);
    this.#fillState(nowNs);
    this.#state.ackRequest = request;
    const length = encodeState(this.#parts.boot, session, this.#state, this.#bytes);
    this.#send(ROBOT_SOCKETS.command, length, from);
  }

  #onHello(bytes: Uint8Array, length: number, from: Peer, nowNs: number): Reason | null {
    const hello = this.#hello;
    hello.read(bytes, length);
    const result = this.#lease.hello(hello.session, from, nowNs);
    if (result !== 'renewed' && result !== 'claimed' && result !== 'resumed') return result;
    if (result === 'claimed') this.#learning.enter(peerAddress(from), nowNs);
    const malformed = this.#settings.take(hello);
    if (malformed !== null || result === 'renewed') return malformed;
    if (result === 'claimed') {
      this.queue.clear();
      this.#receipts.clear();
      this.#newestSeq = 0;
      this.#loss.restart();
      this.#ackRequest = 0;
      this.#commandPeer = 0;
    }
    this.supervisor.operatorJoined(result === 'claimed', nowNs);
    return null;
  }

  #onBye(bytes: Uint8Array, length: number, from: Peer, nowNs: number): Reason | null {
    if (!this.#lease.release(decodeHello(bytes, length), from)) return 'not-operator';
    this.supervisor.operatorLeft(nowNs);
    this.#learning.leave(nowNs);
    return null;
  }

  #onProbe(
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): Reason | null {
    const malformed = this.#clockReplies.read(bytes, length);
    if (malformed !== null) return malformed;
    const replyLength = this.#clockReplies.write(
      Number.isFinite(kernelNs) ? kernelNs : receivedNs,
      this.#bytes,
    );
    this.#clockReplies.sent(this.#send(ROBOT_SOCKETS.sync, replyLength, from));
    return null;
  }

  #publishState(nowNs: number): void {
    const { statePeer } = this.#lease;
    if (statePeer === 0 || statePeer === TOPIC_PEER || !this.#lease.isHeld(nowNs)) return;
    const state = this.#fillState(nowNs);
    const { boot } = this.#parts;
    const { session } = this.#lease;
    const withMotors = this.#motors.due(nowNs);
    const length =
      (withMotors && encodeState(boot, session, state, this.#bytes, true)) ||
      encodeState(boot, session, state, this.#bytes);
    this.#send(ROBOT_SOCKETS.state, length, this.#lease.statePeer);
  }

  #fillState(nowNs: number): RobotState {
    const state = this.#state;
    reportSupervisor(this.supervisor, nowNs, state);
    state.appliedSeq = this.queue.releasedSeq;
    state.ackRequest = this.#ackRequest;
    if (this.#parts.driver.health !== undefined) copyMotorHealth(this.#parts.driver.health, state.motors);
    state.repeat = this.#loss.repeat;
    if (this.#parts.policy.choose !== undefined) state.playout = this.#parts.policy.name;
    return state;
  }

  #send(socket: number, length: number, to: Peer): number {
    const sentNs = this.#parts.outbox.send(socket, this.#bytes, length, to);
    if (!sentNs) this.#parts.counters.add('send-failed');
    return sentNs;
  }
}

const outcomeOf = (reason: Reason): Outcome => (reason === 'dropped-stale' ? reason : `rejected:${reason}`);
