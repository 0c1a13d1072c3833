import assert from 'node:assert/strict';
import { openInputs } from '../../src/app/open-operator.ts';
import { recordedArm } from '../../src/app/recorded-robot.ts';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { createRoleMemory, type RoleMemory } from '../../src/app/role-memory.ts';
import { Counters } from '../../src/core/counters.ts';
import { RecordRing } from '../../src/core/memory/ring.ts';
import { SnapshotBoard } from '../../src/core/memory/snapshot.ts';
import { DurationHistogram } from '../../src/core/statistics/histogram.ts';
import { type Clock, ManualClock } from '../../src/core/time/clock.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import {
  encodeEnvelope,
  encodeXr,
  XR_ENVELOPE_BYTES,
  type XrPacket,
} from '../../src/input/codecs/webxr-codec.ts';
import { emptyRow, RING_ROW, type RingRow } from '../../src/messages/ring-row.ts';
import { drivenFlag, recorderFlag } from '../../src/messages/role-flags.ts';
import { TRACE, type TraceRecord } from '../../src/messages/trace-record.ts';
import { OperatorLoop } from '../../src/operator/loop.ts';
import { LINK_SOCKETS, TwoArmOperator } from '../../src/operator/two-arm-operator.ts';
import { recordedWidth, TwoArmRows } from '../../src/operator/two-arm-rows.ts';
import { type ArmRig, armRigs } from '../../src/rig/arms.ts';
import { loadRig, type Rig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import type { Driver } from '../../src/robot/driver.ts';
import { RobotLoop } from '../../src/robot/loop.ts';
import { rigPolicy } from '../../src/robot/playout/rig-policy.ts';
import { SharedPlayout } from '../../src/robot/playout/shared.ts';
import { TwoArmRobot } from '../../src/robot/two-arm-robot.ts';
import { writeFrame, writeTag } from '../../src/wire/codecs/frame.ts';
import { type Outbox, peerOf } from '../../src/wire/reactor.ts';
import { type Impairment, LocalNetwork } from '../../src/wire/transports/local.ts';
import { judgedJoints, MS, OPERATOR_HOST, RecordingDriver, ROBOT_HOST, TestHand } from './simulated-rig.ts';

const FIRST_OPERATOR_PORT = 40_000;

export interface SimulatedArm extends ArmRig {
  model: RobotModel;
  hand: TestHand;
  operator: OperatorLoop;
  robot: RobotLoop;
  driver: RecordingDriver;
  closed: TraceRecord[];
  operatorMemory: RoleMemory;
  robotMemory: RoleMemory;
}

export interface TwoArmOptions {
  rig?: string;
  overrides?: string[];
  wrapDriver?: (arm: Driver, index: number) => Driver;
  /** The rig's own inputs instead of the hands of the test. */
  ownInputs?: boolean;
}

/** Two arms over a simulated network in simulated time, each moved by a hand of the test; deterministic. */
export class TwoArmRig {
  readonly clock = new ManualClock(100e9);
  readonly network: LocalNetwork;
  readonly rig: Rig;
  readonly arms: SimulatedArm[] = [];
  readonly counters = new Counters();
  readonly rows: RingRow[] = [];
  operator!: TwoArmOperator;
  impair: Impairment = () => 2 * MS;
  #rowRing!: RecordRing;

  private constructor({ rig = 'two-arms', overrides = [] }: TwoArmOptions) {
    this.rig = loadRig(rig, ['robot.playout=fixed:60', ...overrides]).config;
    this.network = new LocalNetwork(
      this.clock,
      (untilNs) => this.clock.advanceTo(untilNs),
      (from, to, nowNs) => this.impair(from, to, nowNs),
    );
  }

  static async create(options: TwoArmOptions = {}): Promise<TwoArmRig> {
    const rig = new TwoArmRig(options);
    await rig.#open(options);
    return rig;
  }

  async #open({ wrapDriver = (arm) => arm, ownInputs = false }: TwoArmOptions): Promise<void> {
    const { clock, network, counters } = this;
    const arms = armRigs(this.rig).map((arm) => ({ ...arm, model: loadModel(arm.rig.model) }));
    const ports = arms.flatMap(({ rig: { link } }) => [link.commandPort, link.statePort, link.syncPort]);
    const robotEnd = network.endpoint(ROBOT_HOST, ports);
    const operatorEnd = network.endpoint(
      OPERATOR_HOST,
      Array.from({ length: 2 * LINK_SOCKETS + 1 }, (_, i) => FIRST_OPERATOR_PORT + i),
    );
    const width = arms.reduce((sum, arm) => sum + recordedWidth(recordedArm(arm)), 0);
    const first = createRoleMemory('operator', arms[0]!.model.joints.length, 0, 0, width);
    Atomics.store(recorderFlag(first), 0, 1);
    this.#rowRing = RecordRing.attach(first.rowRing);
    const rows = new TwoArmRows(first, arms.map(recordedArm), counters);
    const playout = new SharedPlayout(rigPolicy(arms[0]!.rig));
    for (const [i, arm] of arms.entries()) {
      const robotMemory = createRoleMemory(
        'robot',
        arm.model.joints.length,
        200,
        arms[1 - i]!.model.joints.length,
      );
      const operatorMemory = i === 0 ? first : createRoleMemory('operator', arm.model.joints.length);
      const sim = await openSim(arm.model, clock);
      const driver = new RecordingDriver(wrapDriver(sim, i), clock, judgedJoints(arm.rig, arm.model));
      const neighbour = arms[1 - i]!.model;
      const common = { rig: arm.rig, model: arm.model, neighbour, clock, startNs: clock.nowNs() };
      const robot = new RobotLoop({
        ...common,
        driver,
        policy: i === 0 ? playout.first : playout.second,
        priors: {},
        onLearnt: () => {},
        outbox: after(i, robotEnd.outbox),
        boot: 7,
        counters,
        lateness: new DurationHistogram(),
        board: new SnapshotBoard(robotMemory.board),
        onTransition: () => {},
        pair: robotMemory.pair,
        windDown: new Int32Array(1),
        onFinished: () => assert.fail('unexpected end of the robot'),
      });
      const hand = new TestHand();
      const closed: TraceRecord[] = [];
      const { link } = arm.rig;
      const operator = new OperatorLoop({
        ...common,
        inputs: ownInputs
          ? await openInputs(arm.rig, clock)
          : new Map([[arm.rig.operator.input, { device: hand, automatic: false }]]),
        outbox: after(i, operatorEnd.outbox),
        robot: {
          command: peerOf(ROBOT_HOST, link.commandPort),
          state: peerOf(ROBOT_HOST, link.statePort),
          sync: peerOf(ROBOT_HOST, link.syncPort),
        },
        session: 1001,
        ...(i === 1 ? { sync: this.arms[0]!.operator.sync } : {}),
        counters,
        lateness: new DurationHistogram(),
        board: new SnapshotBoard(operatorMemory.board),
        onClosed: (record) => {
          closed.push(TRACE.plain(record));
          rows.of(i).onClosed(record);
        },
        rows: rows.of(i),
        windDown: new Int32Array(1),
        onFinished: () => {},
      });
      this.arms.push({ ...arm, hand, operator, robot, driver, closed, operatorMemory, robotMemory });
    }
    const [left, right] = this.arms as [SimulatedArm, SimulatedArm];
    const operatorArm = ({ operator }: SimulatedArm) => ({ loop: operator, handler: operator, inputs: 0 });
    const robotArm = ({ side, robot, model, robotMemory }: SimulatedArm) => ({
      ...{ name: side!, loop: robot, handler: robot, model, pair: robotMemory.pair },
    });
    Atomics.store(drivenFlag(first), 0, 1);
    this.operator = new TwoArmOperator([operatorArm(left), operatorArm(right)], counters, drivenFlag(first));
    operatorEnd.attach(this.operator);
    robotEnd.attach(new TwoArmRobot([robotArm(left), robotArm(right)]));
  }

  get states(): string[] {
    return this.arms.map(({ robot }) => robot.supervisor.state);
  }

  runFor(ms: number): void {
    const row = emptyRow(this.width);
    this.network.run(this.clock.nowNs() + ms * MS);
    while (this.#rowRing.shift(row.packed)) this.rows.push(RING_ROW.plain(row));
  }

  get width(): number {
    return this.arms.reduce((sum, arm) => sum + recordedWidth(recordedArm(arm)), 0);
  }

  /** A request from the page, as its console sends it. */
  ask(request: object): void {
    const bytes = new Uint8Array(512);
    const length = writeFrame('request', request, bytes);
    const { operator } = this;
    operator.onDatagram(2 * LINK_SOCKETS, bytes, length, 1, this.clock.nowNs(), Number.NaN);
  }

  /** Hands of a headset, as its console forwards them. */
  hands(packet: XrPacket): void {
    const bytes = new Uint8Array(1472);
    const at = writeTag('hands', bytes);
    const takenNs = this.clock.nowNs() - 5 * MS;
    encodeEnvelope({ takenNs, sentNs: takenNs + MS, stream: 1 }, bytes, at);
    const length = encodeXr(packet, bytes.subarray(at + XR_ENVELOPE_BYTES));
    const { operator } = this;
    const whole = at + XR_ENVELOPE_BYTES + length;
    operator.onDatagram(2 * LINK_SOCKETS, bytes, whole, 1, this.clock.nowNs(), Number.NaN);
  }

  /** Both arms armed, clutches open. */
  arm(): void {
    this.runFor(500);
    this.ask({ kind: 'arm' });
    this.runFor(300);
    assert.deepEqual(this.states, ['armed', 'armed']);
  }

  /** Both arms follow their hands. */
  engage(): void {
    this.arm();
    for (const { hand } of this.arms) hand.hand.clutch = true;
    this.runFor(300);
    assert.deepEqual(this.states, ['engaged', 'engaged']);
  }
}

const after = (index: number, outbox: Outbox): Outbox => ({
  send: (socket, bytes, length, to) => outbox.send(index * LINK_SOCKETS + socket, bytes, length, to),
});

async function openSim(model: RobotModel, clock: Clock): Promise<Driver> {
  const plugin = await loadPlugin('driver', 'sim');
  return plugin.open(pluginConfig('driver', 'sim', plugin, {}), model, clock);
}
