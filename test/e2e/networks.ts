import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFrame } from '../../src/wire/codecs/frame.ts';
import { Lifetime } from '../lifetime.ts';

/** The first three bytes of their addresses. The middle is .1, the end itself .2. */
const ENDS = {
  robot: '198.51.100',
  operator: '203.0.113',
  'other-robot': '192.0.2',
  'other-desk': '198.19.255',
} as const;
export type End = keyof typeof ENDS;
const NAMES = Object.keys(ENDS) as End[];

function ip(...args: string[]): void {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
}

/** A network namespace, kept alive by an idle process. */
class Network {
  readonly #keeper: ChildProcess;

  private constructor(keeper: ChildProcess) {
    this.#keeper = keeper;
  }

  static async open(): Promise<Network> {
    const keeper = spawn('unshare', ['-n', 'sh', '-c', 'echo in; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const network = new Network(keeper);
    const [first] = await Promise.race([once(keeper.stdout!, 'data'), once(keeper, 'close')]);
    if (String(first).trim() !== 'in') throw new Error(`unshare -n ended with ${first}`);
    network.ip('link', 'set', 'lo', 'up');
    return network;
  }

  get pid(): string {
    return String(this.#keeper.pid);
  }

  /** Command prefix to run a command in this network. */
  get within(): string[] {
    return ['nsenter', '-t', this.pid, '-n'];
  }

  run(...command: string[]): string {
    const [enter, ...words] = [...this.within, ...command];
    const { status, stdout, stderr } = spawnSync(enter!, words, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
    return stdout;
  }

  ip(...args: string[]): void {
    this.run('ip', ...args);
  }

  async close(): Promise<void> {
    const closed = once(this.#keeper, 'close');
    this.#keeper.kill('SIGKILL');
    await closed;
  }
}

/**
 * Networks of robots and operators, each connected only to one in the middle, which forwards nothing. This
 * process is connected to the middle, too.
 */
export class Networks {
  readonly middle: Network;
  /** Address of the middle, reachable from everywhere. */
  readonly address: string;
  readonly #ends: Record<End, Network>;
  readonly #cable = `fh${process.pid}`;

  readonly #life: Lifetime;

  private constructor(life: Lifetime, middle: Network, ends: Record<End, Network>) {
    this.#life = life;
    this.middle = middle;
    this.#ends = ends;
    for (const end of NAMES) {
      const there = ends[end];
      const cable = ['type', 'veth', 'peer', 'name', 'cable', 'netns', there.pid];
      ip('link', 'add', 'name', end, 'netns', middle.pid, ...cable);
      middle.ip('address', 'add', `${ENDS[end]}.1/24`, 'dev', end);
      middle.ip('link', 'set', end, 'up');
      there.ip('address', 'add', `${this.addressOf(end)}/24`, 'dev', 'cable');
      there.ip('link', 'set', 'cable', 'up');
      there.ip('route', 'add', 'default', 'via', `${ENDS[end]}.1`);
    }
    const here = `198.18.${process.pid % 256}`;
    this.address = `${here}.1`;
    ip('link', 'add', 'name', this.#cable, 'type', 'veth', 'peer', 'name', 'test', 'netns', middle.pid);
    life.own(this.#cable, (cable) => ip('link', 'delete', cable));
    middle.ip('address', 'add', `${this.address}/30`, 'dev', 'test');
    middle.ip('link', 'set', 'test', 'up');
    ip('address', 'add', `${here}.2/30`, 'dev', this.#cable);
    ip('link', 'set', this.#cable, 'up');
  }

  static async open(): Promise<Networks> {
    const life = new Lifetime();
    return life.setUp(async () => {
      const open = async () => life.own(await Network.open(), (network) => network.close());
      const ends: Partial<Record<End, Network>> = {};
      for (const name of NAMES) ends[name] = await open();
      return new Networks(life, await open(), ends as Record<End, Network>);
    });
  }

  /** Command prefix to run a command at an end. */
  within(end: End): string[] {
    return this.#ends[end].within;
  }

  addressOf(end: End): string {
    return `${ENDS[end]}.2`;
  }

  /** Whether the middle forwards packets. */
  get forwards(): boolean {
    return this.middle.run('cat', '/proc/sys/net/ipv4/ip_forward').trim() !== '0';
  }

  /** Disconnects an end from the middle. */
  cut(end: End): void {
    this.middle.ip('link', 'set', end, 'down');
  }

  reconnect(end: End): void {
    this.middle.ip('link', 'set', end, 'up');
  }

  /** UDP datagrams that programs in the middle have received. */
  datagramsInMiddle(): number {
    const [names, values] = this.middle
      .run('grep', '^Udp:', '/proc/net/snmp')
      .split('\n')
      .map((line) => line.split(' '));
    return Number(values![names!.indexOf('InDatagrams')]);
  }

  /** Whether an end gets any answer from an address, for example a refused connection. */
  async reaches(from: End, address: string): Promise<boolean> {
    const dial = ['timeout', '3', 'bash', '-c', `exec 3<>/dev/tcp/${address}/9`];
    const [enter, ...words] = [...this.within(from), ...dial];
    // Not synchronously: the fleet's services run in this process, and must answer meanwhile.
    const child = spawn(enter!, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    await once(child, 'close');
    return errors.includes('refused');
  }

  /** Sends a request to the desk of an operator in that network. */
  ask(end: End, deskPort: number, kind: string): void {
    const out = new Uint8Array(128);
    const text = Buffer.from(out.subarray(0, writeFrame('request', { kind }, out))).toString();
    this.#ends[end].run('bash', '-c', `printf %s "$0" > /dev/udp/127.0.0.1/${deskPort}`, text);
  }

  close(): Promise<void> {
    return this.#life.end();
  }
}
