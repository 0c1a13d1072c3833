import { WebSocket } from 'ws';
import { expectWords, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { answerProbe, type ProbeMessage } from '../../src/messages/console-access.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { type Companion, compareBeside } from '../beside.ts';
import { VerbProcess } from '../estop/verb-process.ts';

export const consoleBench: Verb = {
  name: 'console',
  usage: '[--seconds S] [--json]',
  about:
    'Latency of the demo and its robot’s loop with and without a console and a page, alternating in one run.',
  details: `The console process and a page that receives telemetry 30 times a second are stopped and continued every ten
seconds (off, on, on, off); the first three seconds of each turn, until the operator stops sending, do not count. The
page is a socket and draws nothing: a browser belongs on another processor. Exits 1 if p99 of the robot's loop (from a
command's arrival at the socket to the driver) with the console is significantly above 1.1 times p99 without.`,
  options: { seconds: SECONDS_OPTION, json: JSON_OPTION },
  async run(given) {
    expectWords(consoleBench, given, 0, 0);
    const ports = await freeUdpPorts(2);
    const overrides = [`console.deskPort=${ports[0]}`, `console.telemetryPort=${ports[1]}`];
    let messages = 0;
    const { ok, text, json } = await compareBeside({
      what: 'the console',
      seconds: secondsOf(given, 120),
      turnS: 10,
      guardS: 3.2,
      maxRatio: 1.1,
      judged: 'robot loop',
      overrides,
      start: () =>
        start(overrides, () => {
          messages++;
        }),
    });
    if (messages === 0) throw new Error('the page received no telemetry');
    print(given, { bench: 'console', messages, ...json }, `${text}\n\n${messages} messages to the page`);
    return ok ? 0 : 1;
  },
};

/** A separate console, and a page without a browser that reads and answers like one. */
async function start(overrides: readonly string[], onTelemetry: () => void): Promise<Companion> {
  const console_ = new VerbProcess(['console', 'console.port=0', ...overrides]);
  const line = await console_.waitFor(/http:\/\/localhost/);
  const url = /http:\S+/.exec(line)![0];
  const cookie = (await fetch(url)).headers.get('set-cookie')?.split(';')[0] ?? '';
  const origin = url.replace(/\/$/, '');
  const page = new WebSocket(`${url.replace('http', 'ws')}ws`, { origin, headers: { cookie } });
  page.on('error', () => {});
  page.on('message', (data) => {
    const message = JSON.parse(String(data)) as { kind: string };
    const nowNs = performance.now() * 1e6;
    if (message.kind === 'telemetry') onTelemetry();
    if (message.kind === 'probe')
      page.send(JSON.stringify(answerProbe(message as ProbeMessage, nowNs, nowNs)));
  });
  return { process: console_, close: () => page.terminate() };
}
