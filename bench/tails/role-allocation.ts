import { joinLocally, type LocalPair } from '../../src/app/local-pair.ts';
import { warmClockSync } from '../../src/app/warm-up.ts';
import { RecordRing } from '../../src/core/memory/ring.ts';
import { ManualClock } from '../../src/core/time/clock.ts';
import { TRACE } from '../../src/messages/trace-record.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import type { DatagramHandler } from '../../src/wire/reactor.ts';
import { LocalNetwork } from '../../src/wire/transports/local.ts';

/** Bytes per command of the operator's and of the robot's control loop, with everything in between. */
export interface RoleAllocation {
  operator: number;
  robot: number;
}

const WARM_UP_S = 40;
const ROUND_S = 4;
const MAX_ROUNDS = 10;
const DELAY_NS = 50_000;
const ROLES = ['operator', 'robot'] as const;

/**
 * Runs both loops of the demo rig on a manual clock, with mapping, seal, playout, supervisor and trace, and counts what
 * each allocates on V8's heap. The least of some rounds, because now and then V8 itself compiles or collects; no more
 * rounds once it is below `enough`.
 */
export async function allocationByRole(
  sealed: boolean,
  collect: () => void,
  enough: RoleAllocation = { operator: 0, robot: 0 },
): Promise<RoleAllocation> {
  warmClockSync();
  const rig = loadRig('demo', []).config;
  const clock = new ManualClock();
  const network = new LocalNetwork(
    clock,
    (deadlineNs) => clock.advanceTo(deadlineNs),
    () => DELAY_NS,
  );
  const ring = RecordRing.create(TRACE.size(), 4096);
  const closed = TRACE.create();
  const pair = await joinLocally({
    ...{ rig, model: loadModel(rig.model), clock, network, sealed },
    onClosed: (record) => ring.push(record.packed),
  });
  const meters = { operator: new Meter(pair.operatorHandler), robot: new Meter(pair.robotHandler) };
  network.run(clock.nowNs() + WARM_UP_S * 1e9);
  const least = { operator: Number.POSITIVE_INFINITY, robot: Number.POSITIVE_INFINITY };
  for (let round = 0; round < MAX_ROUNDS && !isBelow(least, enough); round++) {
    while (ring.shift(closed.packed));
    collect();
    const before = pair.operator.link.totals.commands;
    for (const role of ROLES) meters[role].begin();
    network.run(clock.nowNs() + ROUND_S * 1e9);
    for (const role of ROLES) {
      const bytes = meters[role].end() / (pair.operator.link.totals.commands - before);
      least[role] = Math.min(least[role], bytes);
    }
  }
  checkFollows(pair);
  return least;
}

const isBelow = (found: RoleAllocation, enough: RoleAllocation): boolean =>
  found.operator < enough.operator && found.robot < enough.robot;

/** A loop that does nothing allocates nothing. */
function checkFollows({ operator, robot }: LocalPair): void {
  const { applied, commands } = operator.link.totals;
  if (robot.supervisor.state === 'engaged' && applied > 0.95 * commands) return;
  throw new Error(`the robot is ${robot.supervisor.state}; ${applied} of ${commands} commands were applied`);
}

/** Counts what a handler allocates. Installed before the handler is compiled. */
class Meter {
  #isOn = false;
  #bytes = 0;

  constructor(handler: DatagramHandler) {
    const onDatagram = handler.onDatagram.bind(handler);
    const onDeadline = handler.onDeadline.bind(handler);
    handler.onDatagram = (socket, bytes, length, from, receivedNs, kernelNs) => {
      const before = this.#before();
      onDatagram(socket, bytes, length, from, receivedNs, kernelNs);
      this.#after(before);
    };
    handler.onDeadline = (nowNs) => {
      const before = this.#before();
      onDeadline(nowNs);
      this.#after(before);
    };
  }

  begin(): void {
    this.#bytes = 0;
    this.#isOn = true;
  }

  end(): number {
    this.#isOn = false;
    return this.#bytes;
  }

  /** Reading the heap allocates too: twice in a row gives how much. */
  #before(): number {
    if (!this.#isOn) return 0;
    const first = heapBytes();
    const second = heapBytes();
    return 2 * second - first;
  }

  #after(before: number): void {
    // Negative: there was a collection.
    if (this.#isOn) this.#bytes += Math.max(0, heapBytes() - before);
  }
}

const heapBytes = (): number => process.memoryUsage().heapUsed;
