import { bad, type Check, type Finding, good, note } from './check.ts';
import type { Probe } from './probe.ts';

const NET = '/sys/class/net';
const CAN_TYPE = '280';
/** The link's longest datagram, including IP and UDP headers. */
const WANTED_MTU = 1500;
const HEADER_BYTES = 28;
const WANTED_BUFFER_BYTES = 4 << 20;

/** Interfaces that are up and carry IP to other machines. */
function outward(probe: Probe): string[] {
  return probe.list(NET).filter((name) => {
    if (name === 'lo' || probe.read(`${NET}/${name}/type`) === CAN_TYPE) return false;
    return probe.read(`${NET}/${name}/operstate`) === 'up';
  });
}

const isWireless = (probe: Probe, name: string): boolean =>
  probe.list(`${NET}/${name}`).some((entry) => entry === 'wireless' || entry === 'phy80211');

/** Power save, band and signal of every Wi-Fi interface. */
export const wifi: Check = async (probe) => {
  const names = probe.list(NET).filter((name) => isWireless(probe, name));
  if (names.length === 0) return [good('Wi-Fi', 'no wireless interface')];
  return names.flatMap((name) => [powerSave(probe, name), ...radio(probe, name)]);
};

function powerSave(probe: Probe, interfaceName: string): Finding {
  const name = `Wi-Fi power save, ${interfaceName}`;
  const reported = probe.run('iw', 'dev', interfaceName, 'get', 'power_save');
  const older = reported === null ? probe.run('iwconfig', interfaceName) : null;
  const state = /power (?:save|management): ?(on|off)/i.exec(reported ?? older ?? '')?.[1]?.toLowerCase();
  const why = 'the radio sleeps between beacons and holds packets for up to 100 ms';
  const set = (value: string) =>
    reported === null
      ? ['iwconfig', interfaceName, 'power', value]
      : ['iw', 'dev', interfaceName, 'set', 'power_save', value];
  if (state === 'off') return good(name, 'off');
  if (state === undefined)
    return note(name, {
      found: 'unknown: neither iw nor iwconfig reports it',
      why: `if it is on, ${why}`,
      fix: `sudo apt install iw; sudo iw dev ${interfaceName} set power_save off`,
    });
  const repairs = [{ kind: 'run', command: set('off'), undo: set('on') }] as const;
  return bad(name, { found: 'on', why, fix: `sudo ${set('off').join(' ')}`, repairs });
}

const WEAK_DBM = -70;

function radio(probe: Probe, interfaceName: string): Finding[] {
  const link = probe.run('iw', 'dev', interfaceName, 'link');
  if (link === null || !/^Connected/m.test(link)) return [];
  const freq = Number(/freq: (\d+)/.exec(link)?.[1]);
  const signal = Number(/signal: (-\d+)/.exec(link)?.[1]);
  const name = `Wi-Fi radio, ${interfaceName}`;
  const found = `${freq} MHz, ${signal} dBm`;
  if (freq < 3000)
    return [
      note(name, {
        found,
        why: 'the 2.4 GHz band is crowded; retries cost 5 to 50 ms (an estimate)',
        fix: 'join a 5 or 6 GHz network on a free channel',
      }),
    ];
  if (signal < WEAK_DBM)
    return [
      note(name, {
        found,
        why: 'a weak signal causes retries of 1 to 10 ms each (an estimate)',
        fix: 'move closer to the access point, or use a cable',
      }),
    ];
  return [good(name, found)];
}

export const mtu: Check = async (probe) =>
  outward(probe).map((interfaceName) => {
    const name = `MTU, ${interfaceName}`;
    const bytes = Number(probe.read(`${NET}/${interfaceName}/mtu`));
    if (bytes >= WANTED_MTU) return good(name, `${bytes} bytes`);
    return note(name, {
      found: `${bytes} bytes`,
      why: `datagrams over ${bytes - HEADER_BYTES} bytes are fragmented, and one lost fragment loses them; commands and state are shorter, camera slices may not be`,
      fix: `if the network supports it: sudo ip link set dev ${interfaceName} mtu ${WANTED_MTU}`,
    });
  });

export const cable: Check = async (probe) =>
  outward(probe)
    .filter((name) => !isWireless(probe, name))
    .flatMap((interfaceName) => {
      const duplex = probe.read(`${NET}/${interfaceName}/duplex`);
      const speed = Number(probe.read(`${NET}/${interfaceName}/speed`) ?? Number.NaN);
      const name = `cable, ${interfaceName}`;
      if (duplex === 'half')
        return [
          bad(name, {
            found: `half duplex, ${speed} Mbit/s`,
            why: 'the two ends collide and wait for each other: milliseconds, and losses under load (an estimate)',
            fix: `replace the cable or switch; enable negotiation on both ends: sudo ethtool -s ${interfaceName} autoneg on`,
          }),
        ];
      return speed > 0 ? [good(name, `full duplex, ${speed} Mbit/s`)] : [];
    });

export const socketBuffers: Check = async (probe) => {
  const name = 'socket buffers';
  const file = '/proc/sys/net/core/rmem_max';
  const text = probe.read(file);
  if (text === null) return [good(name, 'limit not visible on this system')];
  const max = Number(text);
  if (max >= WANTED_BUFFER_BYTES) return [good(name, `up to ${max} bytes`), ...overflows(probe)];
  return [
    note(name, {
      found: `limited to ${max} bytes, ${WANTED_BUFFER_BYTES} requested`,
      why: 'under a flood, a stall of about 100 ms loses packets in the kernel (an estimate)',
      fix: `sudo sysctl -w net.core.rmem_max=${WANTED_BUFFER_BYTES}`,
      repairs: [{ kind: 'write', path: file, value: String(WANTED_BUFFER_BYTES), previous: text }],
    }),
    ...overflows(probe),
  ];
};

/** Datagrams the kernel dropped since boot because a program did not read them in time. */
function overflows(probe: Probe): Finding[] {
  const rows = (probe.read('/proc/net/snmp') ?? '').split('\n').filter((line) => line.startsWith('Udp:'));
  const [names = '', values = ''] = rows;
  const at = names.split(' ').indexOf('RcvbufErrors');
  const count = at < 0 ? 0 : Number(values.split(' ')[at]);
  if (!(count > 0)) return [];
  return [
    note('UDP overflows', {
      found: `${count} datagrams dropped since boot`,
      why: 'some program did not read them in time; if it was Farhand, commands or state were lost',
      fix: 'check whether `nstat UdpRcvbufErrors` grows during a run; if so, reduce load, or raise net.core.rmem_max',
    }),
  ];
}

/** A port that a rig uses: setting, kind and number. */
export type PortUse = readonly [name: string, kind: 'udp' | 'tcp', port: number];

export const ports =
  (uses: readonly PortUse[]): Check =>
  async (probe) => {
    const free = await Promise.all(uses.map(([, kind, port]) => probe.isFree(kind, port)));
    const taken = uses.filter((_, i) => !free[i]);
    const name = 'ports';
    if (taken.length === 0)
      return [good(name, `free: ${uses.map(([, kind, port]) => `${kind} ${port}`).join(', ')}`)];
    return taken.map(([key, kind, port]) =>
      note(`port ${port}`, {
        found: `${kind} ${port} (${key}) is in use${holder(probe, kind, port)}`,
        why: 'a role with this setting will not start; fine if your own robot, operator or demo is running',
        fix: `end the program that uses it, or choose another port: ${key}=${port + 100}`,
      }),
    );
  };

function holder(probe: Probe, kind: 'udp' | 'tcp', port: number): string {
  const reported = probe.run('ss', '-H', '-n', '-l', '-p', kind === 'udp' ? '-u' : '-t', `sport = :${port}`);
  const [, program, pid] = /users:\(\("([^"]+)",pid=(\d+)/.exec(reported ?? '') ?? [];
  return program === undefined ? '' : ` by ${program} (process ${pid})`;
}
