import { InputRelays } from '../app/input-relay.ts';
import { loadPlugin, pluginConfig, pluginNames } from '../app/registry.ts';
import { overrideTree } from '../core/config.ts';
import { Counters } from '../core/counters.ts';
import { TeleopError } from '../core/errors.ts';
import { hostPort } from '../core/ip-address.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { Periodic } from '../core/time/periodic.ts';
import { emptyQuality, type InputDevice } from '../input/device.ts';
import { DeviceFiles } from '../input/device-files.ts';
import { emptyHandSample, type HandSample } from '../messages/hand-sample.ts';
import { type DatagramHandler, type Peer, peerAddress, peerPort, type SocketSpec } from '../wire/reactor.ts';
import { openDgramReactor } from '../wire/transports/udp-dgram.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from './arguments.ts';
import { onEndRequest } from './process.ts';

const TABLE_HZ = 5;

export const listenVerb: Verb = {
  name: 'listen',
  usage: 'INPUT [--host ADDRESS] [--port PORT] [key=value …]',
  about: 'Shows what an input receives, without a robot.',
  details: `Rate, jitter, estimated loss, tracking, e-stop, pose and rejected packets: a table in a terminal, otherwise one
line of JSON per second. \`farhand plugins input NAME\` lists the settings of an input.`,
  examples: ['farhand listen rctp', 'farhand listen openteach --seconds 10 --json'],
  options: {
    host: { type: 'string', value: 'ADDRESS', about: 'address to listen on (default: the setting)' },
    port: { type: 'string', value: 'PORT', about: 'UDP port of the first socket (default: the setting)' },
    seconds: { type: 'string', value: 'S', about: 'end after S seconds (default: on Ctrl-C)' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(listenVerb, given, 1, 1);
    const name = given.words[0]!;
    const { open, specs, relays, files } = await inputOf(name, given);
    const seconds = numberOption(given, 'seconds', 0.1, 1e6) ?? Number.POSITIVE_INFINITY;
    const table = process.stdout.isTTY === true && given.values['json'] !== true;
    const counters = new Counters();
    const receiver = new Receiver(open(counters), counters, table ? TABLE_HZ : 1, seconds, (report) =>
      table ? showTable(report) : console.log(JSON.stringify({ input: name, ...report })),
    );
    const reactor = await openDgramReactor(specs);
    receiver.onEnd = () => reactor.stop();
    onEndRequest(() => reactor.stop());
    for (const [i, { name: socket, host }] of specs.entries())
      console.error(`listening for ${socket} on UDP ${hostPort(host, reactor.localPort(i))}`);
    const wanted = relays.map((relay) => ({
      ...relay,
      toPort: relay.socket === null ? null : reactor.localPort(relay.socket),
    }));
    const relayed = await InputRelays.open(wanted, counters);
    const devices = new DeviceFiles(
      files.map((file) => ({ ...file, toPort: reactor.localPort(file.socket) })),
      counters,
      (text) => console.error(text),
    );
    for (const { name: socket, host, port } of relays)
      console.error(`listening for ${socket} on ZeroMQ tcp://${hostPort(host, port)}`);
    try {
      await reactor.run(receiver);
    } finally {
      relayed.close();
      devices.close();
      reactor.close();
    }
    return 0;
  },
};

async function inputOf(name: string, given: Given) {
  const plugin = await loadPlugin('input', name);
  const values = {};
  for (const text of given.overrides) Object.assign(values, overrideTree(text, scalar));
  const config = pluginConfig('input', name, plugin, values);
  const specs: SocketSpec[] = (plugin.sockets?.(config) ?? []).map((spec) => ({
    ...spec,
    portKey: '--port',
  }));
  const [first] = specs;
  if (first === undefined) {
    const able: string[] = [];
    for (const other of pluginNames('input'))
      if ((await loadPlugin('input', other)).sockets !== undefined) able.push(other);
    throw new TeleopError('bad-option', `input "${name}" does not listen on the network`, {
      hint: `These do: ${able.join(', ')}.`,
    });
  }
  const relays = (plugin.relays?.(config) ?? []).map((relay) => ({ ...relay, portKey: '--port' }));
  // With ZeroMQ, the UDP sockets are local to this machine.
  const outward: { host: string; port: number }[] = relays.length > 0 ? relays : specs;
  outward[0]!.port = numberOption(given, 'port', 0, 65535) ?? outward[0]!.port;
  const host = given.values['host'];
  if (typeof host === 'string') for (const spec of outward) spec.host = host;
  const open = (counters: Counters) =>
    plugin.open(config, monotonicClock.nowNs(), (reason) => counters.add(reason));
  return { open, specs, relays, files: plugin.files?.(config) ?? [] };
}

/** JSON values parsed, anything else as text. */
function scalar(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

type ListenReport = ReturnType<Receiver['read']>;

/** Feeds an input device from its sockets, and reports what it makes of them. */
class Receiver implements DatagramHandler {
  onEnd: () => void = () => {};
  readonly #device: InputDevice;
  readonly #counters: Counters;
  readonly #shows: Periodic;
  readonly #startNs = monotonicClock.nowNs();
  readonly #endNs: number;
  readonly #show: (report: ListenReport) => void;
  readonly #sample = emptyHandSample();
  readonly #quality = emptyQuality();
  #estops = 0;

  constructor(
    device: InputDevice,
    counters: Counters,
    hz: number,
    seconds: number,
    show: (report: ListenReport) => void,
  ) {
    this.#device = device;
    this.#counters = counters;
    this.#shows = new Periodic(hz, this.#startNs + 1e9 / hz);
    this.#endNs = this.#startNs + seconds * 1e9;
    this.#show = show;
  }

  onDatagram(socket: number, bytes: Uint8Array, length: number, from: Peer, receivedNs: number): void {
    const reason = this.#device.ingest(bytes, length, receivedNs, from, socket);
    if (reason !== null) this.#counters.add(reason);
    if (this.#device.estop === true) this.#estops++;
    // Sampled as a tick would, so that nothing piles up in the device.
    this.#device.sample(receivedNs, this.#sample);
  }

  onOversize(): void {
    this.#counters.add('oversize');
  }

  nextDeadlineNs(): number {
    return Math.min(this.#shows.nextNs, this.#endNs);
  }

  onDeadline(nowNs: number): void {
    this.#shows.due(nowNs);
    this.#show(this.read(nowNs));
    if (nowNs >= this.#endNs) this.onEnd();
  }

  read(nowNs: number) {
    const [sample, quality] = [this.#sample, this.#quality];
    const status = this.#device.sample(nowNs, sample);
    this.#device.quality?.(nowNs, quality);
    const { from, rateHz, jitterNs, received, lost } = quality;
    return {
      seconds: round((nowNs - this.#startNs) / 1e9),
      source: from === 0 ? null : hostPort(peerAddress(from), peerPort(from)),
      rateHz: round(rateHz),
      jitterMs: Number.isNaN(jitterNs) ? null : round(jitterNs / 1e6),
      received,
      lostEstimate: lost,
      status,
      tracking: sample.tracking,
      clutch: sample.clutch,
      estop: sample.estop,
      /** Packets that requested an e-stop, including rejected ones. */
      estops: this.#estops,
      positionM: status === 'none' ? null : [...sample.positionM],
      quatXyzw: status === 'none' ? null : [...sample.quatXyzw],
      gripperClosed: status === 'none' ? null : sample.gripper,
      /** x, y, z of each of the 21 points of a tracked hand. */
      pointsM: sample.points === 0 ? null : pointsOf(sample),
      rejected: this.#counters.snapshot(),
    };
  }
}

const pointsOf = ({ points, pointsM }: HandSample): number[][] =>
  Array.from({ length: points }, (_, i) => [...pointsM.subarray(3 * i, 3 * i + 3)]);

const round = (value: number): number => Math.round(value * 1000) / 1000;

/** Distance of each fingertip from the wrist. */
function fingerText(pointsM: readonly number[][]): string {
  const [wrist] = pointsM;
  const tips = [4, 8, 12, 16, 20].map((tip) => Math.hypot(...pointsM[tip]!.map((v, k) => v - wrist![k]!)));
  return `${pointsM.length} points; tips ${tips.map((m) => (m * 100).toFixed(1)).join(', ')} cm from the wrist`;
}

let drawn = 0;

function showTable(report: ListenReport): void {
  const numbers = (values: number[] | null) => values?.map((v) => v.toFixed(3).padStart(8)).join('') ?? '–';
  const rejected = Object.entries(report.rejected).map(([reason, count]) => `${reason} ${count}`);
  const rows = [
    ['source', report.source ?? 'none'],
    ['rate', `${report.rateHz.toFixed(1)} per second`],
    ['jitter', report.jitterMs === null ? '–' : `${report.jitterMs.toFixed(2)} ms`],
    ['packets', `${report.received} accepted, about ${report.lostEstimate} lost`],
    [
      'hand',
      `${report.status}, ${report.tracking ? 'seen' : 'not seen'}${report.clutch ? ', would drive' : ''}`,
    ],
    ['e-stop', `${report.estop ? 'REQUESTED' : 'no'} (${report.estops} packets)`],
    ['position', `${numbers(report.positionM)} m`],
    ['rotation', `${numbers(report.quatXyzw)} x y z w`],
    ['gripper', report.gripperClosed === null ? '–' : `${(report.gripperClosed * 100).toFixed(0)} % closed`],
    ['fingers', report.pointsM === null ? '–' : fingerText(report.pointsM)],
    ['rejected', rejected.join(', ') || 'none'],
  ];
  const up = drawn === 0 ? '' : `\x1b[${drawn}A`;
  drawn = rows.length;
  const lines = rows.map(([label, text]) => `\x1b[K${label!.padEnd(10)}${text}`);
  process.stdout.write(`${up}${lines.join('\n')}\n`);
}
