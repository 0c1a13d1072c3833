import { setTimeout as sleep } from 'node:timers/promises';
import { type Baseline, type BaselineProcess, startBaseline } from '../../check/baseline.ts';
import type { SessionOptions } from '../../check/session.ts';
import { TeleopError } from '../../core/errors.ts';
import { loadRig, type Rig } from '../../rig/rig.ts';
import { temporaryKey } from '../../rig/temporary-key.ts';
import type { LinkStats } from '../../wire/emulator/stats.ts';
import { freeUdpPorts } from '../../wire/transports/free-ports.ts';
import { type Child, startChild } from '../child.ts';
import { type LinkEmulator, startLinkEmulator } from '../link-emulator.ts';

const GRACE_MS = 5000;
const STEP_MS = 200;
const LINK_PORTS = ['commandPort', 'statePort', 'syncPort'] as const;

interface Target {
  host: string;
  port: number;
}

interface Prepared {
  /** The operator's rig. */
  rig: Rig;
  operatorArgs: string[];
  /** Null when the robot runs on another machine. */
  robotArgs: string[] | null;
}

/** Owns everything that a session starts, so that all of it can be ended. */
export class SessionParts {
  readonly #options: SessionOptions;
  readonly #children: Child[] = [];
  readonly #failed: Promise<never>;
  #fail: (error: unknown) => void = () => {};
  #key: { overrides: string[]; remove: () => void } | null = null;
  #link: LinkEmulator | null = null;
  #echo: Child | null = null;
  /** Where probes go: the echo, or the emulated link in front of it. */
  #echoTarget: Target | null = null;
  #probes: BaselineProcess | null = null;
  #ended: Promise<{ baseline: Baseline | null; link: LinkStats | null }> | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.#failed.catch(() => {});
  }

  async prepare(): Promise<Prepared> {
    const { rig: name, overrides, robotHost, place, baseline, profile } = this.#options;
    // A robot on another machine is reached with the paired key, on its own ports.
    this.#key = robotHost === null ? temporaryKey(loadRig(name, overrides).config, 'check') : null;
    const ports = robotHost === null ? await linkPorts() : [];
    const common = [...overrides, ...(this.#key?.overrides ?? []), ...ports];
    const { link } = loadRig(name, common).config;
    const host = robotHost ?? place.host;
    if (baseline) this.#echoTarget = await this.#openEcho();
    const reached = await this.#emulate(host, link);
    const [desk, telemetry] = await freeUdpPorts(2);
    const own = [...reached, `console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`];
    const network = profile === null ? [] : [`robot.network=emulated ${profile}`];
    return {
      rig: loadRig(name, [...common, ...own]).config,
      operatorArgs: ['--rig', name, ...common, ...own],
      robotArgs:
        robotHost === null ? ['--rig', name, ...common, `link.listenHost=${host}`, ...network] : null,
    };
  }

  async #openEcho(): Promise<Target> {
    const { robotHost, echoPort, place } = this.#options;
    if (robotHost !== null) return { host: robotHost, port: echoPort };
    const args = ['echo', '--listen', place.host, '--echo-port', '0'];
    this.#echo = startChild(
      'check',
      args,
      () => {},
      (command) => place.at('rx', command),
    );
    const info = await this.#echo.ready;
    return { host: place.host, port: 'ports' in info ? info.ports[0]! : 0 };
  }

  /** Settings that direct the operator to the robot, or to the emulated link in front of it. */
  async #emulate(host: string, link: Rig['link']): Promise<string[]> {
    const { profile } = this.#options;
    if (profile === null) return [`link.robotHost=${host}`];
    const targets = LINK_PORTS.map((name) => `${host}:${link[name]}`);
    const echo = this.#echoTarget;
    if (echo !== null) targets.push(`${echo.host}:${echo.port}`);
    const mappings = targets.map((target) => ({ listen: '0', target }));
    this.#link = await startLinkEmulator({ profile, mappings });
    const { ports } = this.#link;
    if (echo !== null) this.#echoTarget = { host: '127.0.0.1', port: ports[LINK_PORTS.length]! };
    return ['link.robotHost=127.0.0.1', ...LINK_PORTS.map((name, i) => `link.${name}=${ports[i]}`)];
  }

  async start(verb: 'robot' | 'operator', side: 'tx' | 'rx', args: readonly string[]): Promise<Child> {
    const child = startChild(
      verb,
      args,
      () => {},
      (command) => this.#options.place.at(side, command),
    );
    this.#children.unshift(child);
    await child.ready;
    void child.exited.then((code) => {
      const message = `the ${verb} process ended (${code ?? 'killed'})`;
      const hint = `Run \`farhand ${verb}\` by itself to see why.`;
      this.#fail(new TeleopError('child-failed', message, { hint }));
    });
    return child;
  }

  /** ICMP does not pass through an emulated link, which carries only UDP. */
  async startProbes(hz: number): Promise<void> {
    const { place, profile, robotHost } = this.#options;
    const icmpHost = profile === null ? (robotHost ?? place.host) : null;
    this.#probes = await startBaseline(place, { hz, udp: this.#echoTarget, icmpHost });
  }

  /** True when it was interrupted. Throws when a role ended. */
  async waitS(seconds: number, onProgress: (done: number, total: number) => void): Promise<boolean> {
    const untilMs = performance.now() + seconds * 1000;
    const stopped = this.#options.stop.then(() => true);
    for (let leftMs = seconds * 1000; leftMs > 0; leftMs = untilMs - performance.now()) {
      onProgress(seconds - leftMs / 1000, seconds);
      const slept = sleep(Math.min(leftMs, STEP_MS)).then(() => false);
      if (await Promise.race([stopped, this.#failed, slept])) return true;
    }
    onProgress(seconds, seconds);
    return false;
  }

  /**
   * Ends the operator first, so that its last commands get receipts; then the robot. May be called
   * repeatedly.
   */
  end(): Promise<{ baseline: Baseline | null; link: LinkStats | null }> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<{ baseline: Baseline | null; link: LinkStats | null }> {
    const baseline = (await this.#probes?.stop()) ?? null;
    for (const child of this.#children) await child.end(GRACE_MS);
    await this.#echo?.end(GRACE_MS);
    const link = (await this.#link?.close()) ?? null;
    this.#key?.remove();
    return { baseline, link };
  }
}

async function linkPorts(): Promise<string[]> {
  const ports = await freeUdpPorts(LINK_PORTS.length);
  return LINK_PORTS.map((name, i) => `link.${name}=${ports[i]}`);
}
