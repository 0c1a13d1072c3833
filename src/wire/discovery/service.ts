import { isDeepStrictEqual } from 'node:util';
import { parseIp } from '../../core/ip-address.ts';
import { type DnsMessage, type DnsRecord, encodeDns, sameName, TYPE } from './dns-message.ts';

const SERVICE = ['_farhand', '_udp', 'local'];
const SERVICES = ['_services', '_dns-sd', '_udp', 'local'];
const HOST_TTL_S = 120;
const OTHER_TTL_S = 4500;

/** What a robot announces. It grants nothing: a machine that is not paired cannot connect. */
export interface AnnouncedRobot {
  /** What people call it; at most 63 bytes. */
  name: string;
  /** Name of the machine, without `.local`. */
  host: string;
  addresses: readonly string[];
  commandPort: number;
  statePort: number;
  syncPort: number;
}

/** Answers questions about one robot (RFC 6762, 6763). Sans I/O. */
export class ServiceResponder {
  readonly #robot: AnnouncedRobot;
  name: string;

  constructor(robot: AnnouncedRobot) {
    this.#robot = robot;
    this.name = robot.name;
  }

  get #instance(): string[] {
    return [this.name, ...SERVICE];
  }

  /** Asks whether another machine uses the name; it also says what we would answer. */
  probe(): Uint8Array {
    const questions = [{ name: this.#instance, type: TYPE.ANY, unicast: true }];
    return encodeDns({ id: 0, isResponse: false, questions, records: [this.#service(HOST_TTL_S)] });
  }

  /** Everything, without being asked; `ttlS` 0 takes it back. */
  announcement(ttlS?: number): Uint8Array {
    return encodeDns({ id: 0, isResponse: true, questions: [], records: this.#all(ttlS) });
  }

  /** Whether a message shows that another robot has our name. */
  isTaken({ isResponse, records }: DnsMessage): boolean {
    return (
      isResponse &&
      records.some(
        (record) =>
          record.type === 'SRV' &&
          record.ttlS > 0 &&
          sameName(record.name, this.#instance) &&
          (record.port !== this.#robot.commandPort || !sameName(record.target, this.#host)),
      )
    );
  }

  /** The answer to a message, null if there is none. `unicast`: the question requests it for itself. */
  answer({ id, isResponse, questions, records }: DnsMessage, legacy: boolean): Answer | null {
    if (isResponse) return null;
    const asked = questions.filter((question) => this.#isOurs(question.name, question.type));
    // A responder may be told what is known already, and then stays silent.
    const known = (own: DnsRecord) =>
      records.some((record) => sameRecord(record, own) && record.ttlS >= own.ttlS / 2);
    const all = this.#all();
    const listing = asked.some(({ name }) => sameName(name, SERVICES)) ? [this.#listing()] : [];
    const wanted = [
      ...listing,
      ...all.filter((own) => asked.some(({ name, type }) => isAbout(own, name, type))),
    ].filter((own) => !known(own));
    if (wanted.length === 0) return null;
    const others = listing.length > 0 ? [] : all.filter((own) => !wanted.includes(own));
    const reply = {
      id: legacy ? id : 0,
      isResponse: true,
      questions: legacy ? asked : [],
      records: [...wanted, ...others],
    };
    return {
      bytes: encodeDns(reply, wanted.length),
      unicast: legacy || asked.every(({ unicast }) => unicast),
    };
  }

  get #host(): string[] {
    return [this.#robot.host, 'local'];
  }

  #isOurs(name: readonly string[], type: number): boolean {
    return sameName(name, SERVICES) || this.#all().some((own) => isAbout(own, name, type));
  }

  #service(ttlS: number): DnsRecord {
    const { commandPort: port } = this.#robot;
    return { type: 'SRV', name: this.#instance, ttlS, unique: true, port, target: this.#host };
  }

  #listing(): DnsRecord {
    return { type: 'PTR', name: SERVICES, ttlS: OTHER_TTL_S, unique: false, target: SERVICE };
  }

  #all(ttlS?: number): DnsRecord[] {
    const { addresses, statePort, syncPort } = this.#robot;
    const [hostS, otherS] = [ttlS ?? HOST_TTL_S, ttlS ?? OTHER_TTL_S];
    const listens = addresses.map((address) => `address=${address}`);
    const texts = ['v=1', `state=${statePort}`, `sync=${syncPort}`, ...listens];
    return [
      { type: 'PTR', name: SERVICE, ttlS: otherS, unique: false, target: this.#instance },
      this.#service(hostS),
      { type: 'TXT', name: this.#instance, ttlS: otherS, unique: true, texts },
      ...addresses.map(
        (address): DnsRecord => ({
          type: address.includes(':') ? 'AAAA' : 'A',
          ...{ name: this.#host, ttlS: hostS, unique: true, address },
        }),
      ),
    ];
  }
}

export interface Answer {
  bytes: Uint8Array;
  unicast: boolean;
}

const isAbout = (record: DnsRecord, name: readonly string[], type: number): boolean =>
  sameName(record.name, name) && (type === TYPE.ANY || type === TYPE[record.type]);

const sameRecord = (a: DnsRecord, b: DnsRecord): boolean =>
  isDeepStrictEqual({ ...a, ttlS: 0, unique: true }, { ...b, ttlS: 0, unique: true });

export interface FoundRobot {
  name: string;
  host: string;
  addresses: string[];
  commandPort: number;
  statePort: number;
  syncPort: number;
}

/** Most robots, machines and names that are remembered, whatever the network sends. */
const MAX_FOUND = 256;

/** Collects what robots announce. Sans I/O. */
export class ServiceBrowser {
  readonly #services = new Map<string, Extract<DnsRecord, { type: 'SRV' }>>();
  readonly #texts = new Map<string, string[]>();
  readonly #addresses = new Map<string, Set<string>>();

  query(): Uint8Array {
    const questions = [{ name: SERVICE, type: TYPE.PTR, unicast: false }];
    return encodeDns({ id: 0, isResponse: false, questions, records: [] });
  }

  take({ isResponse, records }: DnsMessage): void {
    if (!isResponse) return;
    for (const record of records) {
      const key = keyOf(record.name);
      if (record.type === 'SRV' && isInstance(record.name)) put(this.#services, key, record);
      if (record.type === 'TXT' && isInstance(record.name)) put(this.#texts, key, record.texts);
      if (record.type === 'A' || record.type === 'AAAA') {
        const known = this.#addresses.get(key) ?? new Set();
        if (known.size < MAX_FOUND) known.add(record.address);
        put(this.#addresses, key, known);
      }
      if (record.ttlS === 0) this.#services.delete(key);
    }
  }

  /** Robots whose address is known, by name. */
  found(): FoundRobot[] {
    const robots = [...this.#services].flatMap(([key, { name, port, target }]) => {
      const texts = this.#texts.get(key) ?? [];
      const listens = addressesIn(texts);
      const addresses = listens.length > 0 ? listens : [...(this.#addresses.get(keyOf(target)) ?? [])];
      const portOf = (which: string) => portIn(texts, which);
      if (addresses.length === 0) return [];
      return [
        {
          name: printable(name[0]!),
          host: printable(target.join('.')),
          addresses,
          commandPort: port,
          statePort: portOf('state') ?? port + 1,
          syncPort: portOf('sync') ?? port + 2,
        },
      ];
    });
    return robots.sort((a, b) => a.name.localeCompare(b.name));
  }
}

const isInstance = (name: readonly string[]): boolean =>
  name.length === 4 && sameName(name.slice(1), SERVICE);
const keyOf = (name: readonly string[]): string => JSON.stringify(name).toLowerCase();

function put<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.has(key) || map.size < MAX_FOUND) map.set(key, value);
}

/** Two robots of one machine may listen on different addresses of it, and two machines may have the same name. */
const addressesIn = (texts: readonly string[]): string[] =>
  texts
    .filter((text) => text.startsWith('address='))
    .map((text) => text.slice('address='.length))
    .filter((text) => parseIp(text) !== null);

function portIn(texts: readonly string[], which: string): number | null {
  const port = Number(
    texts.find((text) => text.startsWith(`${which}=`))?.slice(which.length + 1) ?? Number.NaN,
  );
  return Number.isInteger(port) && port > 0 && port < 65536 ? port : null;
}

/** Names come from the network and are shown on terminals. */
const printable = (text: string): string => text.replace(/[\p{C}]/gu, '�');
