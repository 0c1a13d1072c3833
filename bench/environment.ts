import { readFileSync } from 'node:fs';
import os from 'node:os';

/** The machine that a figure was measured on. */
export interface Environment {
  cpu: string;
  cores: number;
  kernel: string;
  node: string;
  loadAverage: number[];
  startedAt: string;
}

export function environment(): Environment {
  return {
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.cpus().length,
    kernel: `${os.type()} ${os.release()} ${os.arch()}`,
    node: process.version,
    loadAverage: os.loadavg().map((value) => Math.round(value * 100) / 100),
    startedAt: new Date().toISOString(),
  };
}

/** Processor load during a phase, in percent of one core. Null if the system does not report it. */
export interface LoadSeen {
  /** This bench and every process it started. */
  ownPercent: number;
  /** All other processes on the machine. */
  otherPercent: number | null;
  /** Time the hypervisor gave to other machines. */
  stealPercent: number | null;
  loadAverage1: number;
}

/** With more load from others than this, tail latencies are not meaningful. */
const QUIET_PERCENT = 10;

export const wasQuiet = (load: LoadSeen): boolean =>
  load.otherPercent !== null && load.otherPercent + (load.stealPercent ?? 0) <= QUIET_PERCENT;

interface Ticks {
  atMs: number;
  busy: number;
  steal: number;
  own: number;
}

const TICKS_PER_S = 100;

/**
 * Starts measuring; the returned function returns the load since then. Call it once the processes of the phase have
 * ended: the kernel adds a child's time to ours when it is reaped.
 */
export function meterLoad(): () => LoadSeen {
  const from = readTicks();
  return () => {
    const to = readTicks();
    const loadAverage1 = Math.round(os.loadavg()[0]! * 100) / 100;
    if (from === null || to === null)
      return { ownPercent: 0, otherPercent: null, stealPercent: null, loadAverage1 };
    const ticks = ((to.atMs - from.atMs) / 1000) * TICKS_PER_S;
    const percent = (count: number) => Math.max(0, Math.round((100 * count) / Math.max(1, ticks)));
    const own = to.own - from.own;
    return {
      ownPercent: percent(own),
      otherPercent: percent(to.busy - from.busy - own),
      stealPercent: percent(to.steal - from.steal),
      loadAverage1,
    };
  };
}

/** Linux only: /proc/stat for the machine, /proc/self/stat for us and our reaped children. */
function readTicks(): Ticks | null {
  try {
    const cpu = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/\s+/).slice(1).map(Number);
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = cpu;
    const self = readFileSync('/proc/self/stat', 'utf8');
    // After the name, which may hold spaces: state is field 3, utime to cstime are fields 14 to 17.
    const fields = self
      .slice(self.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .map(Number);
    const own = fields.reduce((sum, value) => sum + value, 0);
    return { atMs: performance.now(), busy: user + nice + system + irq + softirq, steal, own };
  } catch {
    return null;
  }
}

export function environmentText(env: Environment): string {
  const load = env.loadAverage.map((value) => value.toFixed(2)).join(' ');
  return [
    `Machine   ${env.cpu}, ${env.cores} cores, ${env.kernel}`,
    `Node      ${env.node}`,
    `Started   ${env.startedAt}, load average ${load}`,
  ].join('\n');
}

export function loadText(load: LoadSeen): string {
  if (load.otherPercent === null) return 'load of the machine unknown';
  const steal = load.stealPercent ? `, ${load.stealPercent} % stolen by the hypervisor` : '';
  const verdict = wasQuiet(load) ? 'quiet' : 'OTHER LOAD';
  return `${verdict}: bench ${load.ownPercent} %, others ${load.otherPercent} % of a core${steal}`;
}
