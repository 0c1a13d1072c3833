import type { Companion } from '../app/fleet/companion.ts';
import { ownPorts, portGate } from '../app/operator-ports.ts';
import { preflight } from '../app/preflight.ts';
import { EndedEarly, startRole } from '../app/role.ts';
import { TeleopError } from '../core/errors.ts';
import type { Role } from '../messages/role-flags.ts';
import type { RoleReady, RoleReport } from '../messages/role-report.ts';
import { episodeText } from '../record/quality-text.ts';
import { oneArm } from '../rig/arms.ts';
import { areStillPaired, pairings } from '../rig/link-keys.ts';
import { type LoadedRig, loadRig, type Rig } from '../rig/rig.ts';
import { announce } from './announce.ts';
import { expectWords, type Given, JSON_OPTION, type OptionSpec, RIG_OPTION, type Verb } from './arguments.ts';
import { cameraLine } from './camera-text.ts';
import { leave, onEndRequest, parentChannel } from './process.ts';

const KEYS_MS = 1000;
const ARM_OPTION: OptionSpec = {
  type: 'string',
  value: 'left|right',
  about: 'only this arm of a rig of two; the other one has a process of its own',
};

/** An option that sets one setting. */
export interface Shortcut extends OptionSpec {
  key: string;
  /** Value of the setting; by default the option's value. */
  set?: (value: string) => string;
}

/** Options with which a role joins a fleet. */
export interface FleetOptions {
  options: Record<string, OptionSpec>;
  /** Null if the options were not given. */
  companion: (given: Given, rig: Rig) => Promise<Companion | null>;
}

/** `farhand operator` and `farhand robot` differ only in the role they run. */
export function roleVerb(
  role: Role,
  about: string,
  examples: readonly string[],
  describe: (info: RoleReady, rig: Rig) => string,
  shortcuts: Record<string, Shortcut> = {},
  fleet: FleetOptions | null = null,
): Verb {
  const verb: Verb = {
    name: role,
    usage: '[--rig NAME|FILE] [key=value …]',
    about,
    details: 'Settings are overridden as key=value; `farhand config explain` lists them. Ctrl-C ends it.',
    examples,
    options: {
      rig: RIG_OPTION,
      ...(role === 'robot' ? { arm: ARM_OPTION } : {}),
      ...shortcuts,
      ...fleet?.options,
      json: JSON_OPTION,
    },
    async run(given: Given) {
      expectWords(verb, given, 0, 0);
      const used = Object.entries(shortcuts).filter(([name]) => given.values[name] !== undefined);
      const overrides = used.map(
        ([name, { key, set = (value: string) => value }]) => `${key}=${set(String(given.values[name]))}`,
      );
      const name = String(given.values['rig'] ?? 'demo');
      const bound = role === 'operator' ? await portGate() : () => {};
      try {
        const loaded = await loadRole(role, name, [...given.overrides, ...overrides]);
        for (const note of loaded.notes) console.error(`farhand: ${note}`);
        const arm = given.values['arm'];
        const config = typeof arm === 'string' ? oneArm(loaded.config, arm) : loaded.config;
        const json = given.values['json'] === true;
        const companion = (await fleet?.companion(given, config)) ?? null;
        return await runRole(role, config, json, describe, companion, bound);
      } finally {
        bound();
      }
    },
  };
  return verb;
}

/** The rig of a role. An operator beside another one gets ports of its own. */
export async function loadRole(role: Role, name: string, overrides: readonly string[]): Promise<LoadedRig> {
  const loaded = loadRig(name, overrides);
  const own = role === 'operator' ? await ownPorts(loaded) : [];
  if (own.length === 0) return loaded;
  const { config, entries, notes } = loadRig(name, [...overrides, ...own]);
  const note = `another operator runs on this machine, so this one has ${own.join(' ')}: give these to \`farhand console\`, \`ask\` and \`estop\``;
  return { config, entries, notes: [...notes, note] };
}

/** Runs a role until it ends, with its companion if it is part of a fleet. Returns the exit code. */
export async function runRole(
  role: Role,
  rig: Rig,
  json: boolean,
  describe: (info: RoleReady, rig: Rig) => string,
  companion: Companion | null = null,
  /** Called as soon as its ports are bound. */
  bound: () => void = () => {},
): Promise<number> {
  const config = companion?.rig ?? rig;
  await preflight(config, [role]);
  const sendToParent = parentChannel();
  const print = (line: unknown, text: string) => console.log(json ? JSON.stringify(line) : text);
  const handle = startRole(
    role,
    config,
    (transition) => {
      void sendToParent(transition);
      print(transition, `${transition.from} → ${transition.to}: ${transition.cause}`);
      companion?.transition(transition);
    },
    (info, file) => {
      const text = episodeText(info, file);
      void sendToParent({ kind: 'episode', text });
      print({ kind: 'episode', ...info, file }, text);
    },
    companion?.keys,
    (text) => {
      void sendToParent({ kind: 'saving', text });
      console.error(`farhand: ${text}`);
    },
  );
  onEndRequest(() => handle.windDown(), { unfinished: () => handle.unfinished() });
  let failure: unknown = null;
  let announcing: ReturnType<typeof announce> | null = null;
  const fail = (error: unknown) => {
    failure ??= error;
    handle.windDown();
  };
  // A bug: stop the robot first, then report it.
  process.on('uncaughtException', (error) => {
    console.error(error);
    handle.keepFlight(String(error));
    fail('bug');
  });
  if (role === 'robot' && companion === null) watchKeys(config, fail);
  handle.ready.then(
    (info) => {
      bound();
      void sendToParent({ kind: 'ready', info });
      print({ kind: 'ready', ...info }, describe(info, config));
      if (role === 'robot') announcing = announce(config, info, print);
      companion?.started(handle, info).then((text) => print({ kind: 'fleet', text }, text), fail);
    },
    () => {},
  );
  void companion?.ended.then((reason) => {
    print({ kind: 'fleet-ended', reason }, `fleet connection ended: ${reason}`);
    fail('fleet');
  });
  const report = await handle.done
    .catch((error: unknown) => {
      if (error instanceof EndedEarly && failure === null) return null;
      throw error;
    })
    .finally(() => Promise.all([companion?.close(), announcing?.then((open) => open?.close())]));
  if (report === null) return 0;
  await sendToParent({ kind: 'report', report });
  print({ kind: 'report', ...report }, reportText(report));
  for (const loss of report.losses) console.error(`farhand: ${loss}`);
  // The thread that saves it is stuck and would keep this process alive.
  if (handle.unfinished().length > 0) leave('SIGTERM');
  if (failure instanceof TeleopError) throw failure;
  return failure === null && report.losses.length === 0 ? 0 : 1;
}

/** A robot stops when a machine that it accepts is no longer paired: that machine may be driving it. */
function watchKeys(rig: Rig, fail: (error: TeleopError) => void): void {
  // A key file that was named by its path is not a pairing.
  if (/[\\/]/.test(rig.link.keyFile)) return;
  const before = pairings(rig);
  if (before.length === 0) return;
  const timer = setInterval(() => {
    if (areStillPaired(rig, before)) return;
    clearInterval(timer);
    fail(
      new TeleopError(
        'key-missing',
        'a pairing of this robot was removed, replaced or changed while it ran',
        {
          hint: 'Start it again: it then accepts only machines that are still paired (`farhand pair --list`).',
        },
      ),
    );
  }, KEYS_MS);
  timer.unref();
}

function reportText(report: RoleReport): string {
  const late = report.wakeLatenessMs;
  const ms = (value: number) => `${value.toFixed(3)} ms`;
  const lines = [
    late &&
      `wake lateness p50 ${ms(late.p50)}, p95 ${ms(late.p95)}, p99 ${ms(late.p99)}, max ${ms(late.max)}`,
    `stalls over 20 ms: ${report.stallsOver20Ms}; main thread busy at most ${ms(report.mainThreadMaxMs)}`,
    `memory ${report.rssMb.settled.toFixed(0)} MB after settling, ${report.rssMb.end.toFixed(0)} MB at the end`,
  ];
  const counted = Object.entries(report.counters).map(([reason, count]) => `${reason} ${count}`);
  if (counted.length > 0) lines.push(`counted: ${counted.join(', ')}`);
  if (report.tracePath !== null) lines.push(`trace: ${report.tracePath}`);
  if (report.traceDropped > 0) lines.push(`commands missing from the trace: ${report.traceDropped}`);
  lines.push(...report.cameras.map(cameraLine));
  return lines.filter(Boolean).join('\n');
}
