import { type Chain, createChain } from '../../geometry/chain.ts';
import { baseFromVr, quatConjugate, quatMultiply, quatRotate } from '../../geometry/frames.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { OPERATOR_SOCKETS } from '../../operator/loop.ts';
import { writeFrame } from '../../wire/codecs/frame.ts';
import { undisturbed } from '../../world/disturbed-moves.ts';
import { EagerHand } from '../../world/eager-hand.ts';
import { OPEN_M } from '../../world/gripper-body.ts';
import { ReportedWorld } from '../../world/reported-world.ts';
import { EMPTY_M } from '../../world/skills.ts';
import { taskNamed } from '../../world/task-list.ts';
import type { Onlooker } from './policy-seed.ts';
import type { WorldStage } from './stage.ts';

/** The gripper has stayed within this for so long: the policy is stuck. */
const STUCK_NS = 2.5e9;
const MOVED_M = 0.02;
const TURNED_RAD = 0.2;
/** The pads have met: it closed on nothing. */
const EMPTY_NS = 0.3e9;
/** Hands back after this long even if nothing was achieved. */
const MAX_NS = 20e9;
/** Share of the expert's speed, as in a demonstration. */
const SPEED = 0.8;
const DESK_PEER = 1;
const POLICY_INPUT = 'joints';

/**
 * Does at the page's hand what a person would: watches a policy, closes the clutch where it is stuck or closed on nothing,
 * does the next step of the task with the expert's moves, and hands back once the task has advanced.
 */
export class ScriptedPerson implements Onlooker {
  /** Take-overs so far. */
  corrections = 0;
  readonly #stage: WorldStage;
  readonly #chain: Chain;
  readonly #most: number;
  readonly #vrFromBase = new Float64Array(4);
  readonly #bytes = new Uint8Array(1024);
  readonly #stillM = new Float64Array(3);
  #stillRad = 0;
  #stillNs = 0;
  #fullNs = 0;
  #hand: EagerHand | null = null;
  #view: ReportedWorld | null = null;
  #beganNs = 0;
  #beganScore = 0;
  #tickNs = Number.NaN;

  /** Takes over at most `most` times. */
  constructor(stage: WorldStage, model: RobotModel, most: number) {
    this.#stage = stage;
    this.#chain = createChain(model);
    this.#most = most;
    quatConjugate(baseFromVr.quatXyzw, this.#vrFromBase);
  }

  get drives(): boolean {
    return this.#stage.pair.operator.sampler.active === POLICY_INPUT;
  }

  tick(sentRad: Float64Array, sentGripper: number): void {
    const nowNs = this.#stage.clock.nowNs();
    if (this.#hand === null && this.#isNeeded(nowNs)) this.#begin(nowNs, sentRad, sentGripper);
    else if (this.#hand !== null) this.#correct(this.#hand, nowNs);
    this.#tickNs = nowNs;
    this.#send(sentGripper);
  }

  #isNeeded(nowNs: number): boolean {
    const { gripM, gripYawRad, openingM, outcome } = this.#stage.world;
    const movedM = Math.hypot(...this.#stillM.map((m, k) => gripM[k]! - m));
    if (movedM > MOVED_M || Math.abs(gripYawRad - this.#stillRad) > TURNED_RAD) {
      this.#stillM.set(gripM);
      this.#stillRad = gripYawRad;
      this.#stillNs = nowNs;
    }
    if (openingM > EMPTY_M) this.#fullNs = nowNs;
    const isBad = nowNs - this.#stillNs > STUCK_NS || nowNs - this.#fullNs > EMPTY_NS;
    const isEngaged = this.#stage.pair.operator.robot.state.state === 'engaged';
    return isBad && isEngaged && this.drives && outcome === 'running' && this.corrections < this.#most;
  }

  /** From the pose that the robot was sent last: what follows is relative to it. */
  #begin(nowNs: number, sentRad: Float64Array, sentGripper: number): void {
    const { world, pair, driver } = this.#stage;
    const task = taskNamed(driver.world.read(world));
    this.#view = new ReportedWorld(world, task);
    const [sentM, measuredM] = [
      this.#flangeM(sentRad),
      this.#flangeM(pair.operator.robot.state.positionsRad),
    ];
    const startM = world.gripM.map((m, k) => m + sentM[k]! - measuredM[k]!);
    this.#hand = new EagerHand(undisturbed(task.expert(this.#view)), startM, world.gripYawRad, this.#view);
    this.#hand.openM = (1 - sentGripper) * OPEN_M;
    this.#beganNs = nowNs;
    this.#beganScore = world.score;
    this.corrections++;
  }

  #flangeM(rad: ArrayLike<number>): Float64Array {
    const positionM = new Float64Array(3);
    this.#chain.frame(rad, this.#chain.joints, positionM, new Float64Array(4));
    return positionM;
  }

  #correct(hand: EagerHand, nowNs: number): void {
    // Reads what the view sees.
    const { score } = this.#stage.world;
    // The hand moves once it drives: closing the clutch takes a tick.
    if (!this.drives) hand.tick(((nowNs - this.#tickNs) / 1e9) * SPEED);
    const isOver = score > this.#beganScore || hand.isDone || nowNs - this.#beganNs > MAX_NS;
    if (!isOver || this.drives) return;
    this.#hand = null;
    this.#stillNs = this.#fullNs = nowNs;
    this.#send(0);
    this.#request('request', { kind: 'hand-back' });
  }

  #send(sentGripper: number): void {
    const { gripM, gripYawRad } = this.#stage.world;
    const { pointM, yawRad, openM } = this.#hand ?? {
      pointM: gripM,
      yawRad: gripYawRad,
      openM: (1 - sentGripper) * OPEN_M,
    };
    const positionM = Float64Array.from(pointM);
    quatRotate(this.#vrFromBase, positionM, positionM);
    const quatXyzw = Float64Array.of(0, 0, Math.sin(yawRad / 2), Math.cos(yawRad / 2));
    quatMultiply(this.#vrFromBase, quatXyzw, quatXyzw);
    const gripper = Math.min(1, Math.max(0, 1 - openM / OPEN_M));
    const clutch = this.#hand !== null;
    this.#request('hand', { positionM: [...positionM], quatXyzw: [...quatXyzw], gripper, clutch });
  }

  #request(type: 'hand' | 'request', body: object): void {
    const length = writeFrame(type, body, this.#bytes);
    const nowNs = this.#stage.clock.nowNs();
    const { operator } = this.#stage.pair;
    operator.onDatagram(OPERATOR_SOCKETS.desk, this.#bytes, length, DESK_PEER, nowNs, Number.NaN);
  }
}
