import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Given, Verb } from '../../src/cli/arguments.ts';
import { expectWords, JSON_OPTION } from '../../src/cli/arguments.ts';
import { HandReceiver } from '../../src/cli/hand-receiver.ts';
import { percentiles } from '../../src/core/statistics/percentiles.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';

/** The wrist's x is the time it was sent, in seconds, with seven digits to resolve a microsecond. */
export const WRAP_S = 8;

export const relayBench: Verb = {
  name: 'relay',
  usage: '[--seconds S]',
  about: 'Time from ZeroMQ’s send to the input’s stamp: OpenTeach tokens through the relay, over loopback.',
  options: { seconds: SECONDS_OPTION, json: JSON_OPTION },
  async run(given: Given) {
    expectWords(relayBench, given, 0, 0);
    const seconds = secondsOf(given, 10);
    const [port] = await freeUdpPorts(1);
    const load = meterLoad();
    const delaysMs: number[] = [];
    const settings = { rightPort: port, otherHand: 'leave', buttonPort: 0, pausePort: 0 };
    const receiver = await HandReceiver.open('openteach', settings, ([x], _isLeft, receivedNs) => {
      const ms = (((receivedNs / 1e9) % WRAP_S) - x!) * 1000;
      delaysMs.push(ms < -1000 ? ms + 1000 * WRAP_S : ms);
    });
    const workerData = { port, hz: 60, seconds };
    const sender = new Worker(new URL('./relay-sender.js', import.meta.url), { workerData });
    await new Promise((resolve) => sender.once('exit', resolve));
    await sleep(100);
    await receiver.close();
    const delayMs = percentiles(Float64Array.from(delaysMs));
    const [env, seen] = [environment(), load()];
    const ms = (value: number) => `${value.toFixed(3)} ms`;
    const text = `${environmentText(env)}
Load      ${loadText(seen)}

${delaysMs.length} tokens at 60 Hz${delayMs ? `: p50 ${ms(delayMs.p50)}, p95 ${ms(delayMs.p95)}, p99 ${ms(delayMs.p99)}, max ${ms(delayMs.max)}` : ''}`;
    print(given, { environment: env, load: seen, tokens: delaysMs.length, delayMs }, text);
    return delaysMs.length > 0 ? 0 : 1;
  },
};
