import { expectWords, type Given, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { frameBits } from '../../src/robot/buses/can-frame.ts';
import { DamiaoFeedback } from '../../src/robot/buses/damiao/feedback.ts';
import { motorFrame, setMit } from '../../src/robot/buses/damiao/frames.ts';
import { MOTOR_TYPES } from '../../src/robot/buses/damiao/motors.ts';
import { FROM_ADAPTER_BYTES, TO_ADAPTER_BYTES } from '../../src/robot/buses/damiao-serial-codec.ts';
import { print } from '../bench.ts';
import { environment, environmentText } from '../environment.ts';
import { checkText } from '../text-table.ts';

const HZ = 200;
const ROUNDS = 200_000;
const MAX_US = 5;
const BITRATE = 1_000_000;
const BAUD_RATE = 921_600;

interface CycleTime {
  name: string;
  frames: number;
  busMs: number;
  share: number;
}

/** Bus time of a cycle of commands and replies: computed, an upper bound with all stuff bits. */
function cycleTimes(): CycleTime[] {
  const time = (name: string, motors: number, fd: boolean): CycleTime => {
    const busMs = (2 * motors * frameBits(motorFrame(1, fd), fd ? 5 : 1) * 1000) / BITRATE;
    return { name, frames: 2 * motors, busMs, share: (busMs * HZ) / 1000 };
  };
  return [
    time('8 motors, classic 1 Mbit/s', 8, false),
    time('8 motors, FD 1/5 Mbit/s', 8, true),
    time('7 motors, classic 1 Mbit/s', 7, false),
  ];
}

/** Microseconds to encode the commands and decode the replies of eight motors. */
function codecUs(): { encodeUs: number; decodeUs: number } {
  const [limits] = MOTOR_TYPES.DM8009;
  const frames = Array.from({ length: 8 }, (_, i) => motorFrame(i + 1, true));
  const feedback = new DamiaoFeedback(frames.map(({ id }) => ({ id, replyId: id + 16 })));
  feedback.limits.fill(limits);
  const answers = frames.map(({ id }) => {
    const frame = motorFrame(id + 16, true);
    frame.data.set([0x10 | id, 0x85, 0x1e, 0x80, 0x08, 0x4b, 35, 33]);
    return frame;
  });
  const timed = (work: (round: number) => void): number => {
    for (let i = 0; i < ROUNDS / 10; i++) work(i);
    const startMs = performance.now();
    for (let i = 0; i < ROUNDS; i++) work(i);
    return ((performance.now() - startMs) * 1000) / ROUNDS;
  };
  const encodeUs = timed((round) => {
    for (let i = 0; i < 8; i++) setMit(frames[i]!, limits, round * 1e-6, 0.1, 70, 2.5, 0);
  });
  const decodeUs = timed((round) => {
    for (let i = 0; i < 8; i++) feedback.take(answers[i]!, round);
  });
  return { encodeUs, decodeUs };
}

export const damiaoBench: Verb = {
  name: 'damiao',
  usage: '[--json]',
  about: 'Damiao motors: time to encode and decode a cycle, and its bus time.',
  details: 'Bus times are computed, with the largest possible number of stuff bits.',
  options: { json: JSON_OPTION },
  async run(given: Given) {
    expectWords(damiaoBench, given, 0, 0);
    const env = environment();
    const codec = codecUs();
    const cycles = cycleTimes();
    const serialMs = (7 * Math.max(TO_ADAPTER_BYTES, FROM_ADAPTER_BYTES) * 10 * 1000) / BAUD_RATE;
    const checks = [
      {
        what: `a cycle of 8 motors encoded and decoded in at most ${MAX_US} µs each`,
        ok: codec.encodeUs <= MAX_US && codec.decodeUs <= MAX_US,
        found: `${codec.encodeUs.toFixed(2)} µs, ${codec.decodeUs.toFixed(2)} µs`,
      },
      {
        what: `the bus has capacity for ${HZ} cycles a second`,
        ok: cycles.every(({ share }) => share < 0.8),
        found: cycles
          .map(({ name, busMs, share }) => `${name}: ${busMs.toFixed(2)} ms, ${(100 * share).toFixed(0)} %`)
          .join('; '),
      },
    ];
    const serial = `Damiao's serial adapter, 7 motors: ${serialMs.toFixed(2)} ms out at ${BAUD_RATE} baud`;
    print(
      given,
      { bench: 'damiao', environment: env, codec, cycles, serialMs, checks },
      [environmentText(env), '', ...checks.map(checkText), serial].join('\n'),
    );
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};
