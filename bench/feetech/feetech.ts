import { rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectWords, type Given, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { FEETECH_STS } from '../../src/robot/buses/feetech/feetech-scs.ts';
import { serialLine } from '../../src/robot/buses/serial-line.ts';
import { ServoBus, wireMs } from '../../src/robot/buses/servo/servo-bus.ts';
import { ArmCycle } from '../../src/robot/drivers/so101/cycle.ts';
import { IDS, identify } from '../../src/robot/drivers/so101/prepare.ts';
import { startSimProcess } from '../../test/contract/sim-process.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';
import { type Check, checkText } from '../text-table.ts';

const MAX_CYCLE_MS = 4;
const BAUD_RATE = 1_000_000;
/** Sync write of six goals, sync read of six servos; six replies of eight bytes. */
const WIRE_BYTES = 26 + 14 + 6 * 14;
const PAUSE_MS = 3;

/** One full cycle of an SO-101: six goals out, six positions, speeds, loads and temperatures in. */
export const feetechBench: Verb = {
  name: 'feetech',
  usage: '[--seconds S] [--json]',
  about: `Servo bus of the SO-101: a full cycle of six servos in at most ${MAX_CYCLE_MS} ms on a pseudo-terminal.`,
  details:
    'A pseudo-terminal takes no time per byte, so the time on a line of 1 Mbaud is computed in addition.',
  options: { seconds: SECONDS_OPTION, json: JSON_OPTION },
  async run(given: Given) {
    expectWords(feetechBench, given, 0, 0);
    const env = environment();
    const load = meterLoad();
    const { cyclesMs, missed } = await measure(secondsOf(given, 10));
    const p50 = cyclesMs[Math.floor(cyclesMs.length / 2)]!;
    const p99 = cyclesMs[Math.floor(cyclesMs.length * 0.99)]!;
    const lineMs = wireMs(WIRE_BYTES, BAUD_RATE);
    const checks: Check[] = [
      {
        what: `a cycle takes at most ${MAX_CYCLE_MS} ms`,
        ok: p99 <= MAX_CYCLE_MS,
        found: `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms of ${cyclesMs.length}; on a real line ${lineMs.toFixed(2)} ms more`,
      },
      { what: 'every cycle is answered', ok: missed === 0, found: `${missed} were not` },
    ];
    const seen = load();
    const result = { bench: 'feetech', environment: env, load: seen, p50, p99, lineMs, missed, checks };
    print(given, result, [environmentText(env), loadText(seen), '', ...checks.map(checkText)].join('\n'));
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

async function measure(seconds: number): Promise<{ cyclesMs: number[]; missed: number }> {
  const folder = temporaryFolder('bench-feetech');
  const port = path.join(folder, 'tty');
  const sim = await startSimProcess(['so101', '--port', port]);
  const bus = await ServoBus.open(serialLine(port, BAUD_RATE), FEETECH_STS, monotonicClock);
  const cyclesMs: number[] = [];
  let missed = 0;
  try {
    await identify(bus);
    let over: (complete: boolean) => void = () => {};
    const cycle = new ArmCycle(bus, IDS, (complete) => over(complete));
    cycle.goals.fill(2048);
    const endNs = monotonicClock.nowNs() + seconds * 1e9;
    while (monotonicClock.nowNs() < endNs) {
      const beganNs = monotonicClock.nowNs();
      const isWhole = await new Promise<boolean>((resolve) => {
        over = resolve;
        cycle.begin(beganNs, true);
      });
      if (isWhole) cyclesMs.push((monotonicClock.nowNs() - beganNs) / 1e6);
      else missed++;
      await sleep(PAUSE_MS);
    }
  } finally {
    bus.close();
    await sim.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return { cyclesMs: cyclesMs.sort((a, b) => a - b), missed };
}
