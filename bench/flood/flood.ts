import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { type DemoRun, demoRun } from '../demo-run.ts';
import { environment, type LoadSeen, meterLoad } from '../environment.ts';
import { interruption } from '../interrupt.ts';
import { Progress } from '../progress.ts';
import type { Target } from './garbage.ts';
import { type Attack, checksOf, floodReport } from './report.ts';
import type { FloodDone, FloodOrder } from './sender.ts';
import { floodText } from './text.ts';
import { processesWith, udpSocketsOf } from './udp-sockets.ts';

const WARM_UP_S = 3;
const PER_SECOND = 50_000;

export const floodBench: Verb = {
  name: 'flood',
  usage: '[--seconds S] [--rate N] [--json] [key=value …]',
  about: 'One-way latency with and without garbage on every UDP port. Exits 1 if the garbage adds latency.',
  details: `Runs the two-process demo on free loopback ports with robot.playout=none, first undisturbed, then under random,
truncated, oversized, malformed, misdirected and replayed datagrams from other addresses. Needs Linux (/proc) and koffi.`,
  options: {
    seconds: { ...SECONDS_OPTION, about: 'length of each half (default: 10)' },
    rate: { type: 'string', value: 'N', about: `datagrams per second (default: ${PER_SECOND})` },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(floodBench, given, 0, 0);
    const env = environment();
    const seconds = secondsOf(given, 10);
    const perSecond = numberOption(given, 'rate', 1000, 1_000_000) ?? PER_SECOND;
    const measured = await measure(seconds, perSecond, given.overrides);
    const report = floodReport(env, seconds, perSecond, measured.run, measured.attack, measured.load);
    const checks = checksOf(report);
    print(given, { ...report, checks }, floodText(report, checks));
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

async function measure(
  seconds: number,
  perSecond: number,
  overrides: readonly string[],
): Promise<{ run: DemoRun; attack: Attack; load: LoadSeen }> {
  const ports = await choosePorts();
  const progress = new Progress(3, WARM_UP_S + 2 * seconds + 1);
  const engaged = signal();
  const over = signal();
  const load = meterLoad();
  const running = demoRun({
    overrides: ['robot.playout=none', ...overrides, ...Object.entries(ports).map((pair) => pair.join('='))],
    durationS: null,
    stop: over.fired,
    onSay: (text) => {
      if (text.includes('→ engaged')) engaged.fire();
    },
  });
  try {
    await Promise.race([engaged.fired, running]);
    await progress.during('warm-up', WARM_UP_S, () => sleep(WARM_UP_S * 1000));
    await progress.during('in peace', seconds, () => sleep(seconds * 1000));
    const targets = findTargets(ports);
    const attack = await progress.during(`under ${perSecond} datagrams per second`, seconds + 1, async () => {
      const done = await flood({ targets, perSecond, seconds });
      await sleep(500);
      return { ...done, targets, dropsByPort: dropsOf(ports) };
    });
    over.fire();
    return { run: await running, attack, load: load() };
  } finally {
    over.fire();
    await running.catch(() => {});
  }
}

type Ports = Record<string, number>;
const KEYS = [
  'link.commandPort',
  'link.statePort',
  'link.syncPort',
  'console.deskPort',
  'console.telemetryPort',
] as const;

async function choosePorts(): Promise<Ports> {
  const free = await freeUdpPorts(KEYS.length);
  return Object.fromEntries(KEYS.map((key, i) => [key, free[i]!]));
}

/** The ports we chose, and the operator's sockets as the system lists them. */
function findTargets(ports: Ports): Target[] {
  const named: Target[] = [
    { name: 'robot command', port: ports['link.commandPort']!, accepts: 'command' },
    { name: 'robot state', port: ports['link.statePort']!, accepts: 'hello' },
    { name: 'robot sync', port: ports['link.syncPort']!, accepts: 'probe' },
    { name: 'operator desk', port: ports['console.deskPort']!, accepts: 'request' },
    { name: 'operator telemetry', port: ports['console.telemetryPort']!, accepts: 'hello' },
  ];
  const clients = rolePids(ports, 'operator')
    .flatMap(udpSocketsOf)
    .filter(({ port }) => !named.some((target) => target.port === port));
  const takes = ['receipt', 'state', 'probeReply'] as const;
  return named.concat(
    clients.map(({ port }, i) => ({
      name: `operator client ${i + 1}`,
      port,
      accepts: takes[i % takes.length]!,
    })),
  );
}

function dropsOf(ports: Ports): Record<number, number> {
  const sockets = [...rolePids(ports, 'operator'), ...rolePids(ports, 'robot')].flatMap(udpSocketsOf);
  return Object.fromEntries(sockets.map(({ port, drops }) => [port, drops]));
}

const rolePids = (ports: Ports, role: string): number[] =>
  processesWith(role, `link.commandPort=${ports['link.commandPort']}`);

function flood(order: FloodOrder): Promise<FloodDone> {
  const script = fileURLToPath(new URL('./sender.js', import.meta.url));
  return new Promise((resolve, reject) => {
    const args = [script, JSON.stringify(order)];
    execFile(process.execPath, args, { signal: interruption }, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout) as FloodDone);
      else if (interruption.aborted) reject(error);
      else {
        const hint = 'The sender needs koffi on 64-bit Linux: `npm install` with optional dependencies.';
        reject(new TeleopError('native-unavailable', `the sender failed: ${stderr.slice(-500)}`, { hint }));
      }
    });
  });
}

function signal(): { fire: () => void; fired: Promise<void> } {
  let fire = () => {};
  const fired = new Promise<void>((resolve) => {
    fire = resolve;
  });
  return { fire, fired };
}
