import type { Push } from 'zeromq';
import { TeleopError } from '../core/errors.ts';
import { hostPort } from '../core/ip-address.ts';
import { percentiles } from '../core/statistics/percentiles.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { HAND_SHAPES, type HandShape, mixShapes, shapeHand } from '../hand/model-hand.ts';
import { HAND_NUMBERS, POINT_COUNTS, spreadHandPoints } from '../hand/points.ts';
import { type ButtonState, encodeHandToken, OPENTEACH_PORTS } from '../input/codecs/openteach-codec.ts';
import { minimumJerk } from '../mapping/joint-path.ts';
import { loadZmq } from '../native/zeromq.ts';
import { type Given, numberOption } from './arguments.ts';
import { linesOf } from './lines.ts';
import { waitUntil } from './pace.ts';
import { onEndRequest } from './process.ts';
import type { Protocol } from './protocols/contract.ts';
import { resolved, windowOf } from './send-options.ts';

type Place = keyof typeof OPENTEACH_PORTS;
type Side = 'right' | 'left';
type Window = readonly [number, number];

const SOURCES = ['scripted', 'recorded', 'stdin'] as const;
const CYCLE = ['open', 'fist', 'open', 'spread', 'open', 'pinch'] as const;
const STEP_S = 1.5;
const HZ = 60;

interface SendOptions {
  source: (typeof SOURCES)[number];
  file: string;
  ports: Record<Place, number>;
  hands: readonly Side[];
  shape: string;
  points: number;
  hz: number;
  seconds: number;
  pause: Window;
  low: Window;
  lost: Window;
}

/** Opens the sockets of OpenTeach's Quest app as the app does: PUSH sockets that connect. */
export async function sendOpenTeach(given: Given, encode: Protocol['encode']): Promise<number> {
  const options = optionsOf(given);
  const host = await resolved(String(given.values['host'] ?? '127.0.0.1'));
  const app = await App.connect(host, options.ports);
  let stopped = false;
  onEndRequest(() => {
    stopped = true;
    if (options.source === 'stdin') process.stdin.destroy();
  });
  const endNs = app.startNs + options.seconds * 1e9;
  const ended = () => stopped || monotonicClock.nowNs() >= endNs;
  if (options.source === 'scripted') await sendScript(app, options, endNs, ended);
  else await sendLines(app, options, encode, endNs, ended);
  const report = app.report();
  app.close();
  console.log(given.values['json'] === true ? JSON.stringify(report) : reportText(report, host));
  return report.refused > 0 || report.sent === 0 ? 1 : 0;
}

function optionsOf(given: Given): SendOptions {
  const text = (name: string, fallback: string) => String(given.values[name] ?? fallback);
  const one = <T extends string>(name: string, known: readonly T[], fallback: T): T => {
    const value = text(name, fallback) as T;
    if (known.includes(value)) return value;
    throw new TeleopError('bad-option', `--${name} ${value} is not valid`, {
      hint: `Choose one of ${known.join(', ')}.`,
    });
  };
  const source = one('from', SOURCES, 'scripted');
  if (source === 'recorded' && given.values['file'] === undefined)
    throw new TeleopError('bad-option', '--from recorded needs --file', {
      hint: 'Give a file of lines that `farhand decode openteach` printed, with timestampS.',
    });
  const hand = one('hand', ['right', 'left', 'both'], 'right');
  return {
    source,
    file: source === 'stdin' ? '-' : text('file', ''),
    ports: portsOf(given),
    hands: hand === 'both' ? ['right', 'left'] : [hand],
    shape: one('shape', [...Object.keys(HAND_SHAPES), 'cycle'], 'cycle'),
    points: Number(one('points', POINT_COUNTS.map(String), '24')),
    hz: numberOption(given, 'hz', 0.1, 1000) ?? HZ,
    seconds: numberOption(given, 'seconds', 0.01, 1e6) ?? Number.POSITIVE_INFINITY,
    pause: windowOf(given.values['pause'], 'pause'),
    low: windowOf(given.values['low'], 'low'),
    lost: windowOf(given.values['lose-tracking']),
  };
}

function portsOf(given: Given): Record<Place, number> {
  const ports: Record<Place, number> = { ...OPENTEACH_PORTS };
  ports.right = numberOption(given, 'port', 1, 65535) ?? ports.right;
  for (const part of String(given.values['ports'] ?? '').split(',')) {
    if (part === '') continue;
    const found = /^(right|left|button|pause)=(\d{1,5})$/.exec(part);
    if (found === null || Number(found[2]) > 65535)
      throw new TeleopError('bad-option', `--ports ${part} is not NAME=PORT`, {
        hint: 'For example, --ports right=8087,left=8110,button=8095,pause=8100; 0 opens no socket.',
      });
    ports[found[1] as Place] = Number(found[2]);
  }
  return ports;
}

class App {
  readonly startNs = monotonicClock.nowNs();
  readonly #sockets: Partial<Record<Place, Push>>;
  readonly #lateMs: number[] = [];
  #sent = 0;
  #failed = 0;
  refused = 0;

  private constructor(sockets: Partial<Record<Place, Push>>) {
    this.#sockets = sockets;
  }

  static async connect(host: string, ports: Record<Place, number>): Promise<App> {
    const zmq = await loadZmq();
    const sockets: Partial<Record<Place, Push>> = {};
    for (const [place, port] of Object.entries(ports) as [Place, number][]) {
      if (port === 0) continue;
      // Nothing may pile up while the PC is unreachable.
      const socket = new zmq.Push({
        linger: 100,
        immediate: true,
        sendTimeout: 0,
        sendHighWaterMark: 2,
        ipv6: host.includes(':'),
      });
      socket.connect(`tcp://${hostPort(host, port)}`);
      sockets[place] = socket;
    }
    return new App(sockets);
  }

  elapsedS(): number {
    return (monotonicClock.nowNs() - this.startNs) / 1e9;
  }

  /** `dueNs`: when the token should have left. */
  async hand(side: Side, token: string | Uint8Array, dueNs: number): Promise<void> {
    const nowNs = monotonicClock.nowNs();
    if (!(await this.#send(side, token))) return;
    this.#sent++;
    if (this.#lateMs.length < 1e6) this.#lateMs.push((nowNs - dueNs) / 1e6);
  }

  async buttons(low: boolean, paused: boolean): Promise<void> {
    const state = (isLow: boolean): ButtonState => (isLow ? 'Low' : 'High');
    await this.#send('button', state(low));
    await this.#send('pause', state(paused));
  }

  async #send(place: Place, message: string | Uint8Array): Promise<boolean> {
    const socket = this.#sockets[place];
    if (socket === undefined) return false;
    try {
      await socket.send(message);
      return true;
    } catch {
      if (place === 'right' || place === 'left') this.#failed++;
      return false;
    }
  }

  report() {
    const seconds = this.elapsedS();
    return {
      sent: this.#sent,
      refused: this.refused,
      /** Not accepted by any receiver. */
      failed: this.#failed,
      seconds,
      rateHz: this.#sent / seconds,
      lateMs: percentiles(Float64Array.from(this.#lateMs)),
    };
  }

  close(): void {
    for (const socket of Object.values(this.#sockets)) socket.close();
  }
}

const within = (atS: number, [from, to]: Window): boolean => atS >= from && atS < to;

/** Due times are multiples of the period from the start, so lateness never accumulates. */
async function sendScript(
  app: App,
  options: SendOptions,
  endNs: number,
  ended: () => boolean,
): Promise<void> {
  const pointsM = new Float64Array(HAND_NUMBERS);
  const sentM = new Float64Array(3 * options.points);
  for (let i = 0; ; i++) {
    const dueNs = app.startNs + (i * 1e9) / options.hz;
    await waitUntil(Math.min(dueNs, endNs), ended);
    if (ended()) return;
    const atS = app.elapsedS();
    if (!within(atS, options.lost))
      for (const side of options.hands) {
        const positionM = [side === 'left' ? -0.2 : 0.2, 1.1 + 0.05 * Math.sin(atS), -0.4];
        shapeHand(shapeAt(options.shape, atS), { positionM, pitchRad: 0 }, side === 'left', pointsM);
        spreadHandPoints(pointsM, options.points, 'unity', sentM);
        await app.hand(side, encodeHandToken('absolute', options.points, sentM), dueNs);
      }
    await app.buttons(within(atS, options.low), within(atS, options.pause));
  }
}

function shapeAt(name: string, atS: number): HandShape {
  if (name !== 'cycle') return HAND_SHAPES[name as keyof typeof HAND_SHAPES];
  const step = Math.floor(atS / STEP_S);
  const [from, to] = [CYCLE[step % CYCLE.length]!, CYCLE[(step + 1) % CYCLE.length]!];
  return mixShapes(HAND_SHAPES[from], HAND_SHAPES[to], minimumJerk((atS / STEP_S) % 1));
}

async function sendLines(
  app: App,
  options: SendOptions,
  encode: Protocol['encode'],
  endNs: number,
  ended: () => boolean,
): Promise<void> {
  let firstS = Number.NaN;
  for await (const line of linesOf(options.file)) {
    const value = objectOf(line);
    const token = encode(value);
    const timeS = Number(value['timestampS']);
    if (Number.isNaN(firstS)) firstS = timeS;
    let dueNs = app.startNs + (timeS - firstS) * 1e9;
    if (options.source === 'recorded' && Number.isFinite(dueNs))
      await waitUntil(Math.min(dueNs, endNs), ended);
    else dueNs = monotonicClock.nowNs();
    if (ended()) return;
    const atS = app.elapsedS();
    if (!(token instanceof Uint8Array) || value['points'] === undefined) app.refused++;
    else for (const side of options.hands) await app.hand(side, token, dueNs);
    await app.buttons(within(atS, options.low), within(atS, options.pause));
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

function reportText(report: ReturnType<App['report']>, host: string): string {
  const { sent, refused, failed, seconds, rateHz, lateMs } = report;
  const lines = [`sent ${sent} hands to ${host} in ${seconds.toFixed(2)} s, ${rateHz.toFixed(2)} per second`];
  if (lateMs)
    lines.push(
      `  late p50 ${lateMs.p50.toFixed(3)}, p99 ${lateMs.p99.toFixed(3)}, max ${lateMs.max.toFixed(3)} ms`,
    );
  if (refused > 0) lines.push(`  ${refused} lines rejected: not a hand`);
  if (failed > 0) lines.push(`  ${failed} not received by anyone`);
  return lines.join('\n');
}
