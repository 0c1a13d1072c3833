import type { ParticipantOptions } from '../../src/robot/buses/dds/announcement.ts';
import { discoveryPort, type Locator, metatrafficPort, userPort } from '../../src/robot/buses/dds/ids.ts';
import { Participant } from '../../src/robot/buses/dds/participant.ts';

export const DOMAIN = 5;
const STEP_NS = 1e6;

export interface Flight {
  from: Host;
  to: Locator;
  bytes: Uint8Array;
}

/** Fate of a datagram: milliseconds until each copy arrives; empty: lost. */
export type Fate = (flight: Flight) => readonly number[];

/** A participant on the network. */
export class Host {
  readonly participant: Participant;
  readonly options: ParticipantOptions;
  isAlive = true;

  constructor(network: Network, id: number, name: string) {
    const prefix = new Uint8Array(12);
    prefix.set([0, 0, id, name.length, 7, 7, 7, 7, network.hosts.length]);
    this.options = {
      domainId: DOMAIN,
      prefix,
      name,
      address: `10.0.0.${id + 1}`,
      metatrafficPort: metatrafficPort(DOMAIN, id),
      userPort: userPort(DOMAIN, id),
      peers: [],
    };
    this.participant = new Participant(this.options, (bytes, length, to) => {
      // The sender reuses the buffer, so deliver a copy.
      if (this.isAlive) network.fly({ from: this, to, bytes: bytes.slice(0, length) });
    });
  }

  listensTo({ host, port }: Locator): boolean {
    if (host.startsWith('239.')) return port === discoveryPort(DOMAIN);
    const { address, metatrafficPort: meta, userPort: user } = this.options;
    return host === address && (port === meta || port === user);
  }
}

/** Hosts connected in memory, on a manual clock. Buffers are poisoned after each delivery. */
export class Network {
  readonly hosts: Host[] = [];
  nowNs = 1e12;
  fate: Fate = () => [0.2];
  #flights: { atNs: number; order: number; flight: Flight }[] = [];
  #order = 0;

  add(name: string, id = this.hosts.length): Host {
    const host = new Host(this, id, name);
    this.hosts.push(host);
    return host;
  }

  fly(flight: Flight): void {
    for (const delayMs of this.fate(flight))
      this.#flights.push({ atNs: this.nowNs + delayMs * 1e6, order: this.#order++, flight });
  }

  start(host: Host): void {
    host.participant.start(this.nowNs, this.nowNs);
  }

  run(ms: number, eachMs: (ms: number) => void = () => {}): void {
    for (let i = 0; i < ms; i++) {
      this.nowNs += STEP_NS;
      this.#deliver();
      eachMs(i);
      if (i % 10 === 0)
        for (const host of this.hosts) if (host.isAlive) host.participant.tick(this.nowNs, this.nowNs);
    }
  }

  #deliver(): void {
    const due = this.#flights.filter(({ atNs }) => atNs <= this.nowNs);
    this.#flights = this.#flights.filter(({ atNs }) => atNs > this.nowNs);
    due.sort((a, b) => a.atNs - b.atNs || a.order - b.order);
    for (const { flight } of due)
      for (const host of this.hosts) {
        if (!host.isAlive || !host.listensTo(flight.to)) continue;
        const bytes = flight.bytes.slice();
        host.participant.receive(bytes, this.nowNs);
        bytes.fill(0xdd);
      }
  }
}
