import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigEntry } from '../core/config.ts';
import { TeleopError } from '../core/errors.ts';
import type { DemoLink } from '../messages/console.ts';
import type { RoleReport } from '../messages/role-report.ts';
import { armRigs } from '../rig/arms.ts';
import { linkKeys, refuseWebrtc } from '../rig/link-keys.ts';
import { loadRig, type Rig } from '../rig/rig.ts';
import { temporaryKey } from '../rig/temporary-key.ts';
import { readTraceParts } from '../trace/read-file.ts';
import { createReport, summaryOf, type TraceSummary } from '../trace/report.ts';
import { type Skew, SkewMeter } from '../trace/skew.ts';
import { PROFILE_NAMES, PROFILES, type ProfileName } from '../wire/emulator/profiles.ts';
import { type LinkRequest, resolveLink } from '../wire/emulator/settings.ts';
import type { LinkStats } from '../wire/emulator/stats.ts';
import { freeTcpPort, freeUdpPorts, reserveUdpPort } from '../wire/transports/free-ports.ts';
import { type Child, type ChildMessage, type ParentMessage, startChild } from './child.ts';
import { type LinkEmulator, type LinkEmulatorOptions, startLinkEmulator } from './link-emulator.ts';
import { preflight } from './preflight.ts';

export interface DemoOptions {
  rig: string;
  overrides: readonly string[];
  headless: boolean;
  /** Seconds; null runs until `stop` resolves. */
  durationS: number | null;
  /** An emulated link between the two roles: a profile, or its details. */
  link?: string | Omit<LinkEmulatorOptions, 'mappings'> | undefined;
  /** Two cameras beside the robot: a test pattern and a drawn view of the arm. */
  cameras?: boolean | undefined;
  stop: Promise<void>;
  say: (text: string) => void;
  /** Progress of a file that is being saved at the end. */
  onSaving?: (text: string) => void;
  /** `lan`: how other machines reach the page; empty if they cannot. */
  onUrl: (url: string, lan: string) => void;
}

export interface DemoResult {
  summary: TraceSummary;
  /** Statistics of the emulated link, if there was one. */
  link: LinkStats | null;
  tracePath: string;
  /** Of two arms: how far apart they applied the commands of one tick. */
  skew?: Skew;
  reports: RoleReport[];
  /** Episodes saved in this run, including those that the limits rejected. */
  episodes: number;
}

const GRACE_MS = 5000;
/** An operator or console that is still starting has nothing to save, and reacts only once it has started. */
const STARTING_GRACE_MS = 200;
const DEMO_CAMERAS = ['cameras.list.front.source=sim', 'cameras.list.pattern.source=test-pattern'];
/** Settings that `--cameras` adds: none to a rig that has cameras. */
export const demoCameras = (rig: string, overrides: readonly string[]): readonly string[] =>
  Object.keys(loadRig(rig, overrides).config.cameras.list).length > 0 ? [] : DEMO_CAMERAS;
const MAX_RESTARTS = 3;
const DESK_TRIES = 3;
const LINK_PORTS = ['commandPort', 'statePort', 'syncPort'] as const;
/** Settings of the ports of each link. */
const portKeys = ({ arms }: Rig): string[] =>
  (arms === null ? ['link'] : ['arms.left.link', 'arms.right.link']).flatMap((link) =>
    LINK_PORTS.map((name) => `${link}.${name}`),
  );
/** Ports that the demo chooses unless the user does, beside those of the links. */
const DEMO_PORTS = ['console.port', 'console.deskPort', 'console.telemetryPort', 'cameras.port'];

/** Starts, watches and ends both roles and the console as processes. */
export async function runDemo(requested: DemoOptions): Promise<DemoResult> {
  const options = requested.cameras
    ? {
        ...requested,
        overrides: [...demoCameras(requested.rig, requested.overrides), ...requested.overrides],
      }
    : requested;
  await checkDemo(options);
  // Everything is closed at the end, whatever happened, in reverse order of opening.
  const closing: (() => unknown)[] = [];
  try {
    return await runProcesses(options, closing);
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** Throws the errors that its processes would throw; starts nothing. */
async function checkDemo({ rig, overrides, headless, link }: DemoOptions): Promise<void> {
  const { config, entries } = loadRig(rig, overrides);
  refuseWebrtc(config);
  resolveLink(linkRequest(link));
  if (config.link.security === 'plain' || config.link.keyFile !== '')
    for (const role of ['robot', 'operator'] as const) linkKeys(role, config);
  const others = [...portKeys(config), ...LINK_PORTS.map((name) => `link.${name}`), ...DEMO_PORTS].filter(
    (key) => !isChosen(entries, key),
  );
  await preflight(config, ['robot', 'operator', ...(headless ? [] : ['console' as const])], others);
}

async function runProcesses(options: DemoOptions, closing: (() => unknown)[]): Promise<DemoResult> {
  const key = temporaryKey(loadRig(options.rig, options.overrides).config, 'demo');
  closing.push(key.remove);
  const desk = await deskPorts(options);
  closing.push(() => desk.release());
  const args = [
    '--rig',
    options.rig,
    ...options.overrides,
    ...(await portOverrides(options)),
    ...desk.overrides,
    ...key.overrides,
  ];
  const emulated = await emulatedLink(options, args);
  closing.push(() => emulated.link?.close());
  const switcher = new LinkSwitch(emulated);
  const family = new Family([...args, ...emulated.overrides], emulated.operatorOverrides, options, switcher);
  closing.push(() => family.end());
  const over = new AbortController();
  closing.push(() => over.abort());
  const ends: Promise<unknown>[] = [options.stop, family.failed];
  const isStarted = await Promise.race([
    startFamily(family, desk, options),
    ...ends.map((end) => end.then(() => false)),
  ]);
  if (isStarted && options.durationS !== null)
    ends.push(sleep(options.durationS * 1000, undefined, { signal: over.signal }));
  await Promise.race(ends);
  await family.end();
  const linkStats = (await emulated.link?.close()) ?? null;
  return resultOf(family, linkStats);
}

async function startFamily(family: Family, desk: DeskPorts, options: DemoOptions): Promise<boolean> {
  await family.start('robot');
  const { moved } = await startOperator(family, desk, options);
  if (moved.length > 0) options.say(`farhand estop ${moved.join(' ')}`);
  if (options.headless) return true;
  const info = await family.start('console');
  if ('url' in info) options.onUrl(info.url, info.lan);
  return true;
}

/**
 * Another demo may take the ports between their release and the operator's bind: then it gets other ports.
 */
async function startOperator(family: Family, first: DeskPorts, options: DemoOptions): Promise<DeskPorts> {
  for (let [desk, left] = [first, DESK_TRIES]; ; left--) {
    await desk.release();
    try {
      await family.start('operator');
      return desk;
    } catch (error) {
      if (left === 0 || !/(desk|telemetry) socket is in use/.test(String(error))) throw error;
    }
    desk = await deskPorts(options);
    family.override(desk.overrides);
  }
}

async function resultOf(family: Family, link: LinkStats | null): Promise<DemoResult> {
  const tracePath = family.reportOf('operator')?.tracePath;
  const reports = [family.reportOf('operator'), family.reportOf('robot')].filter((part) => part !== null);
  const losses = reports.flatMap((part) => part.losses);
  if (!tracePath) throw losses.length === 0 ? noTrace() : lost(losses, null);
  const report = createReport();
  await readTraceParts(tracePath, (record) => report.add(record)).catch((error: unknown) => {
    throw losses.length === 0 ? error : lost(losses, error);
  });
  const second = family.reportOf('operator')?.secondTracePath;
  const skew = second === undefined ? {} : { skew: await skewOf(tracePath, second) };
  return {
    summary: summaryOf(report.finish()),
    link,
    tracePath,
    ...skew,
    reports,
    episodes: family.episodes,
  };
}

async function skewOf(left: string, right: string): Promise<Skew> {
  const meter = new SkewMeter();
  await readTraceParts(left, (record) => meter.addLeft(record));
  await readTraceParts(right, (record) => meter.addRight(record));
  return meter.finish();
}

const linkRequest = (requested: DemoOptions['link']): LinkRequest =>
  typeof requested === 'string' ? { profile: requested } : (requested ?? { profile: 'off' });

interface EmulatedLink {
  link: LinkEmulator | null;
  /** The initial profile, if it has a name. */
  profile: string;
  overrides: string[];
  /** Directs the operator to the emulator instead of the robot. */
  operatorOverrides: string[];
}

/** With a page there is always a link, switched on the page; at first it forwards everything at once. */
async function emulatedLink(
  { rig, link: requested, headless }: DemoOptions,
  args: readonly string[],
): Promise<EmulatedLink> {
  const { config } = loadRig(rig, args.slice(2));
  refuseWebrtc(config);
  const isUdp = config.link.transport === 'udp';
  if (requested === undefined && (headless || !isUdp))
    return { link: null, profile: '', overrides: [], operatorOverrides: [] };
  if (!isUdp)
    throw new TeleopError('bad-option', '--link emulates UDP, and this rig uses ZeroMQ', {
      hint: 'Use link.transport=udp, or omit --link.',
    });
  const targets = armRigs(config).flatMap((arm) => LINK_PORTS.map((name) => arm.rig.link[name]));
  const mappings = targets.map((port) => ({ listen: '0', target: String(port) }));
  const options = linkRequest(requested);
  const name = options.trace?.name ?? options.profile ?? '';
  const page = ['robot.network=none', 'robot.allowPlayoutChoice=true'];
  const link = await startLinkEmulator({ ...options, mappings });
  return {
    link,
    profile: name,
    overrides: headless ? [`robot.network=emulated ${name}`] : page,
    operatorOverrides: portKeys(config).map((key, i) => `${key}=${link.ports[i]}`),
  };
}

const lost = (losses: readonly string[], cause: unknown): TeleopError =>
  new TeleopError('file-unwritable', losses.join(' '), {
    hint: 'The run cannot be evaluated without its trace: run it again.',
    cause,
  });

function noTrace(): TeleopError {
  return new TeleopError('no-trace', 'the operator process left no trace', {
    hint: 'Let it run for a second or more, and keep trace.dir set.',
  });
}

/**
 * Free ports for everything the user did not choose, so that two demos can run side by side. With a page there is an
 * input for replays.
 */
async function portOverrides({ rig, overrides, headless }: DemoOptions): Promise<string[]> {
  const { config, entries } = loadRig(rig, overrides);
  const keys = portKeys(config);
  const ports = await freeUdpPorts(keys.length);
  const added = keys.map((key, i) => ({ key, port: ports[i]! }));
  added.push({ key: 'console.port', port: await freeTcpPort(config.console.host, config.console.port) });
  if (Object.keys(config.cameras.list).length > 0 && config.cameras.wire === 'zmq')
    added.push({ key: 'cameras.port', port: await freeTcpPort('127.0.0.1', config.cameras.port) });
  if (!headless && config.arms === null && config.operator.inputs['joints'] === undefined)
    added.push({ key: 'operator.inputs.joints.port', port: (await freeUdpPorts(1))[0]! });
  return added.filter(({ key }) => !isChosen(entries, key)).map(({ key, port }) => `${key}=${port}`);
}

const isChosen = (entries: readonly ConfigEntry[], key: string): boolean =>
  entries.some((entry) => entry.key === key && entry.source === 'command line');

interface DeskPorts {
  overrides: string[];
  /** Overrides that `farhand estop` needs as well. */
  moved: string[];
  /** Frees the ports for the operator. */
  release(): Promise<void>;
}

/**
 * The rig's own ports if free, so that `farhand estop` finds the demo; others when another demo is running.
 */
async function deskPorts({ rig, overrides }: DemoOptions): Promise<DeskPorts> {
  const { config, entries } = loadRig(rig, overrides);
  const free = (['deskPort', 'telemetryPort'] as const).filter(
    (name) => !isChosen(entries, `console.${name}`),
  );
  const held = await Promise.all(free.map((name) => reserveUdpPort(config.console[name])));
  const texts = free.map((name, i) => `console.${name}=${held[i]!.port}`);
  return {
    overrides: texts,
    moved: texts.filter((_, i) => held[i]!.port !== config.console[free[i]!]),
    release: async () => void (await Promise.all(held.splice(0).map((each) => each.release()))),
  };
}

/** Lets the demo's page switch the emulated link. */
class LinkSwitch {
  readonly #link: LinkEmulator | null;
  #profile: string;

  constructor({ link, profile }: EmulatedLink) {
    this.#link = link;
    this.#profile = profile;
  }

  /** Null: no such link. */
  get state(): DemoLink | null {
    if (this.#link === null) return null;
    const profiles = PROFILE_NAMES.map((name) => ({ name, about: PROFILES[name].about }));
    return { profile: this.#profile, profiles };
  }

  async set(profile: string): Promise<void> {
    if (this.#link === null || !PROFILE_NAMES.includes(profile as ProfileName)) return;
    await this.#link.set(profile);
    this.#profile = profile;
  }
}

class Family {
  readonly failed: Promise<never>;
  #args: readonly string[];
  #operatorArgs: readonly string[];
  readonly #options: DemoOptions;
  readonly #switch: LinkSwitch;
  readonly #children = new Map<string, Child>();
  readonly #started = new Set<Child>();
  readonly #restarts = new Map<string, number>();
  #fail: (error: unknown) => void = () => {};
  #ending = false;
  episodes = 0;

  constructor(
    args: readonly string[],
    operatorOverrides: readonly string[],
    options: DemoOptions,
    linkSwitch: LinkSwitch,
  ) {
    this.#switch = linkSwitch;
    this.#args = args;
    this.#operatorArgs = [...args, ...operatorOverrides];
    this.#options = options;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => {});
  }

  async start(verb: 'robot' | 'operator' | 'console') {
    if (this.#ending) throw new Error('cannot start a process while the demo is ending');
    const args = verb === 'operator' ? this.#operatorArgs : this.#args;
    const child = startChild(verb, args, (message) => this.#send(verb, message));
    this.#children.set(verb, child);
    const info = await child.ready;
    this.#started.add(child);
    if (verb === 'console') this.#sendLink();
    void child.exited.then((code) => this.#onExit(verb, code));
    return info;
  }

  /** Applies to processes started from now on. */
  override(overrides: readonly string[]): void {
    this.#args = [...this.#args, ...overrides];
    this.#operatorArgs = [...this.#operatorArgs, ...overrides];
  }

  reportOf(verb: string): RoleReport | null {
    return this.#children.get(verb)?.report ?? null;
  }

  #send(verb: string, message: ChildMessage): void {
    if (message.kind === 'transition')
      this.#options.say(`${verb}: ${message.from} → ${message.to} (${message.cause})`);
    if (message.kind === 'saving') this.#options.onSaving?.(message.text);
    if (message.kind === 'episode') {
      this.episodes++;
      this.#options.say(message.text);
    }
    if (message.kind === 'link')
      void this.#switch.set(message.profile).then(
        () => this.#sendLink(),
        (error: unknown) => this.#fail(error),
      );
  }

  #sendLink(): void {
    const link = this.#switch.state;
    const message: ParentMessage | null = link && { kind: 'link', link };
    const console = this.#children.get('console')?.process;
    if (message !== null && console?.connected) console.send(message, () => {});
  }

  /** Restarts a process that ended by itself; a measurement run fails instead. */
  #onExit(verb: 'robot' | 'operator' | 'console', code: number | null): void {
    if (this.#ending) return;
    const restarts = (this.#restarts.get(verb) ?? 0) + 1;
    this.#restarts.set(verb, restarts);
    const what = `the ${verb} process ended (${code ?? 'killed'})`;
    if (this.#options.headless || restarts > MAX_RESTARTS) {
      this.#fail(
        new TeleopError('child-failed', what, { hint: `Run \`farhand ${verb}\` by itself to see why.` }),
      );
      return;
    }
    this.#options.say(`${what}; restarting it (${restarts} of ${MAX_RESTARTS})`);
    this.start(verb).catch((error: unknown) => this.#fail(error));
  }

  /** Ends the operator first, so that its last commands get receipts; then the robot. */
  async end(): Promise<void> {
    this.#ending = true;
    for (const verb of ['operator', 'console', 'robot']) {
      const child = this.#children.get(verb);
      const isIdle = verb !== 'robot' && child !== undefined && !this.#started.has(child);
      await child?.end(isIdle ? STARTING_GRACE_MS : GRACE_MS);
    }
  }
}
