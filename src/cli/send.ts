import { createSocket } from 'node:dgram';
import { TeleopError } from '../core/errors.ts';
import { hostPort } from '../core/ip-address.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { socketType } from '../wire/transports/socket-type.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from './arguments.ts';
import { linesOf } from './lines.ts';
import { waitUntil } from './pace.ts';
import { onEndRequest } from './process.ts';
import type { Protocol } from './protocols/contract.ts';
import { PROTOCOLS, protocolNamed } from './protocols/protocol.ts';
import { resolved, windowOf } from './send-options.ts';
import { Sending, type SendOptions } from './sending.ts';

const SOURCES = ['figure8', 'recorded', 'stdin'] as const;

export const sendVerb: Verb = {
  name: 'send',
  usage: 'PROTOCOL [--host HOST] [--port PORT] [--from SOURCE]',
  about: 'Simulates a headset: sends a foreign protocol.',
  details: `figure8   a hand drawing a figure eight (default)
recorded  the lines of --file, as \`farhand decode\` prints them, with their recorded timing (timestampS)
stdin     the same lines, each sent as it arrives; timestampS defaults to the current time
scripted  openteach: a hand in --shape (default), to all four sockets of an OpenTeach PC, ZeroMQ PUSH

Protocols: ${Object.keys(PROTOCOLS).join(', ')}.`,
  examples: ['farhand send rctp', 'farhand send openteach --shape pinch --seconds 10'],
  options: {
    host: { type: 'string', value: 'HOST', about: 'receiver (default: 127.0.0.1)' },
    port: { type: 'string', value: 'PORT', about: 'UDP port (default: the protocol’s)' },
    hz: { type: 'string', value: 'HZ', about: 'packets per second of figure8 (default: the protocol’s)' },
    seconds: {
      type: 'string',
      value: 'S',
      about: 'end after S seconds (default: on Ctrl-C or after the last line)',
    },
    from: { type: 'string', value: 'SOURCE', about: 'figure8, recorded or stdin' },
    file: { type: 'string', value: 'FILE', about: 'lines for --from recorded' },
    'estop-after': { type: 'string', value: 'S', about: 'every packet after S seconds requests an e-stop' },
    'lose-tracking': { type: 'string', value: 'A-B', about: 'no hand is tracked from A to B seconds' },
    hand: { type: 'string', value: 'HAND', about: 'openteach: right, left or both' },
    shape: { type: 'string', value: 'SHAPE', about: 'openteach: open, fist, spread, pinch or cycle' },
    points: { type: 'string', value: 'N', about: 'openteach: 24 (OVR, default), 26 (OpenXR), 21 or 25' },
    pause: { type: 'string', value: 'A-B', about: 'openteach: paused from A to B seconds' },
    low: { type: 'string', value: 'A-B', about: 'openteach: resolution button Low from A to B seconds' },
    ports: { type: 'string', value: 'LIST', about: 'openteach: right=8087,left=8110,button=8095,pause=8100' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(sendVerb, given, 1, 1);
    const own = protocolNamed(given.words[0]).send;
    if (own !== undefined) return own(given);
    const options = optionsOf(given);
    const address = await resolved(options.host);
    const socket = createSocket(socketType(address));
    const sending = new Sending(socket, address, options);
    let stopped = false;
    onEndRequest(() => {
      stopped = true;
      if (options.source === 'stdin') process.stdin.destroy();
    });
    const endNs = sending.startNs + options.seconds * 1e9;
    const ended = () => stopped || monotonicClock.nowNs() >= endNs;
    try {
      if (options.source === 'figure8') await sendFigure(sending, options, endNs, ended);
      else await sendLines(sending, options, endNs, ended);
      await sending.flush();
    } finally {
      await new Promise<void>((resolve) => socket.close(resolve));
    }
    const report = sending.report();
    console.log(given.values['json'] === true ? JSON.stringify(report) : reportText(report, options));
    return report.refused > 0 || report.failed > 0 ? 1 : 0;
  },
};

interface SendArguments extends SendOptions {
  sender: NonNullable<Protocol['sender']>;
  source: (typeof SOURCES)[number];
  file: string;
  host: string;
  hz: number;
  seconds: number;
}

function optionsOf(given: Given): SendArguments {
  const protocol = protocolNamed(given.words[0]);
  const { sender } = protocol;
  if (sender === undefined)
    throw new TeleopError('bad-option', `protocol ${given.words[0]} has no sender`, {
      hint: 'See `farhand send --help`.',
    });
  const source = (given.values['from'] ?? 'figure8') as SendArguments['source'];
  if (!SOURCES.includes(source))
    throw new TeleopError('bad-option', `--from ${source} is not valid`, {
      hint: `Choose one of ${SOURCES.join(', ')}.`,
    });
  const file = source === 'stdin' ? '-' : String(given.values['file'] ?? '');
  if (source === 'recorded' && file === '')
    throw new TeleopError('bad-option', '--from recorded needs --file', {
      hint: 'Give a file of lines that `farhand decode` printed.',
    });
  return {
    protocol,
    sender,
    source,
    file,
    host: String(given.values['host'] ?? '127.0.0.1'),
    port: numberOption(given, 'port', 1, 65535) ?? sender.port,
    hz: numberOption(given, 'hz', 0.1, 1000) ?? sender.hz,
    seconds: numberOption(given, 'seconds', 0.01, 1e6) ?? Number.POSITIVE_INFINITY,
    estopAfterS: numberOption(given, 'estop-after', 0, 1e6) ?? Number.POSITIVE_INFINITY,
    lost: windowOf(given.values['lose-tracking']),
  };
}

/** Due times are multiples of the period from the start, so lateness never accumulates. */
async function sendFigure(
  sending: Sending,
  options: SendArguments,
  endNs: number,
  ended: () => boolean,
): Promise<void> {
  for (let i = 0; ; i++) {
    const dueNs = sending.startNs + (i * 1e9) / options.hz;
    await waitUntil(Math.min(dueNs, endNs), ended);
    if (ended()) return;
    sending.send(options.sender.figure8(sending.elapsedS()), dueNs);
  }
}

async function sendLines(
  sending: Sending,
  options: SendArguments,
  endNs: number,
  ended: () => boolean,
): Promise<void> {
  let firstS = Number.NaN;
  for await (const line of linesOf(options.file)) {
    const value = objectOf(line);
    const now = monotonicClock.nowNs();
    let dueNs = now;
    if (options.source === 'stdin') value['timestampS'] ??= sending.elapsedS();
    else {
      const timeS = Number(value['timestampS']);
      if (Number.isNaN(firstS)) firstS = timeS;
      dueNs = sending.startNs + (timeS - firstS) * 1e9;
      if (Number.isFinite(dueNs)) await waitUntil(Math.min(dueNs, endNs), ended);
    }
    if (ended()) return;
    sending.send(value, Number.isFinite(dueNs) ? dueNs : now);
  }
}

function objectOf(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Rejected and counted when it is encoded.
  }
  return {};
}

function reportText(report: ReturnType<Sending['report']>, { host, port }: SendArguments): string {
  const { sent, refused, failed, seconds, rateHz, lateMs } = report;
  const lines = [
    `sent ${sent} packets to ${hostPort(host, port)} in ${seconds.toFixed(2)} s, ${rateHz.toFixed(2)} per second`,
  ];
  if (lateMs)
    lines.push(
      `  late p50 ${lateMs.p50.toFixed(3)}, p99 ${lateMs.p99.toFixed(3)}, max ${lateMs.max.toFixed(3)} ms`,
    );
  if (refused > 0) lines.push(`  ${refused} lines rejected: not a packet`);
  if (failed > 0) lines.push(`  ${failed} could not be sent`);
  return lines.join('\n');
}
