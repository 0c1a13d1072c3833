import type { RobotModel } from '../geometry/robot-model.ts';
import type { DatagramHandler, Peer } from '../wire/reactor.ts';
import type { RobotLoop } from './loop.ts';
import { type PairBoard, pairBoard } from './pair-watch.ts';
import { Tether } from './tether.ts';

/** One arm: its loop, and what receives its datagrams (the loop itself, or its tunnel). */
export interface RobotArm {
  name: string;
  loop: RobotLoop;
  handler: DatagramHandler;
  model: RobotModel;
  /** Where its loop reads the pose of the other arm. */
  pair: SharedArrayBuffer;
}

/** Sockets of each link. */
const LINK_SOCKETS = 3;

/**
 * Two robot loops in one thread, as one robot. Each gets the other's pose before every cycle, and whatever stops one
 * stops the other in the same call.
 */
export class TwoArmRobot implements DatagramHandler {
  readonly #arms: readonly RobotArm[];
  readonly #boards: PairBoard[];
  readonly #tether: Tether;

  constructor(arms: readonly [RobotArm, RobotArm]) {
    this.#arms = arms;
    this.#boards = arms.map(({ pair }, i) => pairBoard(pair, arms[1 - i]!.model.joints.length));
    const [left, right] = arms;
    this.#tether = new Tether([
      { name: left.name, supervisor: left.loop.supervisor },
      { name: right.name, supervisor: right.loop.supervisor },
    ]);
  }

  nextDeadlineNs(): number {
    let nextNs = Number.POSITIVE_INFINITY;
    for (const { handler } of this.#arms) nextNs = Math.min(nextNs, handler.nextDeadlineNs());
    return nextNs;
  }

  onDeadline(nowNs: number): void {
    this.#exchangePoses();
    for (const { handler } of this.#arms) if (handler.nextDeadlineNs() <= nowNs) handler.onDeadline(nowNs);
    this.#tether.check(nowNs);
  }

  onDatagram(
    socket: number,
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): void {
    const { handler } = this.#arms[Math.floor(socket / LINK_SOCKETS)]!;
    handler.onDatagram(socket % LINK_SOCKETS, bytes, length, from, receivedNs, kernelNs);
    this.#tether.check(receivedNs);
  }

  onOversize(socket: number): void {
    this.#arms[Math.floor(socket / LINK_SOCKETS)]!.handler.onOversize(socket % LINK_SOCKETS);
  }

  /** Stops both, whatever they do. */
  estop(cause: string, nowNs: number): void {
    for (const { loop } of this.#arms) loop.supervisor.estop(cause, nowNs);
  }

  #exchangePoses(): void {
    for (let i = 0; i < this.#boards.length; i++) {
      const { supervisor } = this.#arms[1 - i]!.loop;
      const { reading } = supervisor;
      if (Number.isNaN(reading.positionsRad[0]!)) continue;
      const board = this.#boards[i]!;
      board.value.measuredNs = reading.robotNs;
      board.value.isStopped = supervisor.state === 'stopped';
      board.value.positionsRad.set(reading.positionsRad);
      board.write();
    }
  }
}
