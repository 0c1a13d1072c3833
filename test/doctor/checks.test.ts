import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Check } from '../../src/doctor/check.ts';
import { canBuses, serialLines } from '../../src/doctor/device-checks.ts';
import { examine, rootWouldAdd } from '../../src/doctor/doctor.ts';
import { kernelStamps, marksAndClock, realtime, wakeUps } from '../../src/doctor/link-checks.ts';
import { cable, mtu, ports, socketBuffers, wifi } from '../../src/doctor/network-checks.ts';
import { clockSource, governor, otherLoad, timerSlack } from '../../src/doctor/processor-checks.ts';
import { packages, pairedKeys, programs } from '../../src/doctor/program-checks.ts';
import { isSafe, repairText } from '../../src/doctor/repair.ts';
import { type Readings, recordedProbe } from './recorded-probe.ts';

const NET = '/sys/class/net';
const CPU = '/sys/devices/system/cpu';
const CLOCK = '/sys/devices/system/clocksource/clocksource0';
const WLAN = {
  [`${NET}/wlan0/wireless`]: '',
  [`${NET}/wlan0/operstate`]: 'up',
  [`${NET}/wlan0/type`]: '1',
  [`${NET}/wlan0/mtu`]: '1500',
};
const ETH = { [`${NET}/eth0/operstate`]: 'up', [`${NET}/eth0/type`]: '1', [`${NET}/eth0/mtu`]: '1500' };
const CAN = {
  [`${NET}/can0/type`]: '280',
  [`${NET}/can0/operstate`]: 'up',
  [`${NET}/can0/tx_queue_len`]: '1000',
};
const canLink = (state: string, restartMs: number) =>
  `4: can0: <NOARP,UP,LOWER_UP> mtu 16 qdisc pfifo_fast state UP mode DEFAULT
    link/can  promiscuity 0
    can state ${state} restart-ms ${restartMs}
          bitrate 1000000 sample-point 0.750`;
const governorOf = (cpu: number, value: string) => ({
  [`${CPU}/cpu${cpu}/cpufreq/scaling_governor`]: value,
});
const marks = (there: number | null, back: number | null, clockUncertaintyMs = 0.2) => ({
  where: 'arm',
  there,
  back,
  oneWayMs: { p50: 0.4, p99: 0.9 },
  clockUncertaintyMs,
});
const late = (ns: number) => ({ stampGapNs: [], wakeLateNs: [ns, ns, ns], scheduling: 'normal' });
const snmp = (errors: number) => `Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors
Udp: 100 2 ${errors} 90 ${errors}`;

/** Machine, check, and what the finding must match: verdict, found, why, fix, change. */
type Row = [
  what: string,
  Check,
  Readings,
  { verdict: string; found: RegExp; why?: RegExp; fix?: RegExp; change?: string },
];

const rows: Row[] = [
  [
    'Wi-Fi power save on',
    wifi,
    { files: WLAN, commands: { 'iw dev wlan0 get power_save': 'Power save: on' } },
    {
      verdict: 'bad',
      found: /^on$/,
      why: /up to 100 ms/,
      fix: /sudo iw dev wlan0 set power_save off/,
      change: 'sudo iw dev wlan0 set power_save off',
    },
  ],
  [
    'Wi-Fi power save on, reported by iwconfig',
    wifi,
    { files: WLAN, commands: { 'iwconfig wlan0': 'wlan0  IEEE 802.11\n  Power Management:on' } },
    { verdict: 'bad', found: /^on$/, change: 'sudo iwconfig wlan0 power off' },
  ],
  [
    'Wi-Fi power save off',
    wifi,
    { files: WLAN, commands: { 'iw dev wlan0 get power_save': 'Power save: off' } },
    { verdict: 'good', found: /^off$/ },
  ],
  [
    'Wi-Fi power save unknown',
    wifi,
    { files: WLAN },
    { verdict: 'note', found: /unknown/, fix: /install iw/ },
  ],
  ['no Wi-Fi', wifi, { files: ETH }, { verdict: 'good', found: /no wireless interface/ }],
  [
    'a short MTU',
    mtu,
    { files: { ...ETH, [`${NET}/eth0/mtu`]: '1400' } },
    { verdict: 'note', found: /1400/, why: /1372 bytes/ },
  ],
  ['a normal MTU', mtu, { files: ETH }, { verdict: 'good', found: /1500/ }],
  [
    'a half-duplex cable',
    cable,
    { files: { ...ETH, [`${NET}/eth0/duplex`]: 'half', [`${NET}/eth0/speed`]: '10' } },
    { verdict: 'bad', found: /half duplex, 10/, fix: /cable/ },
  ],
  [
    'a small socket buffer',
    socketBuffers,
    { files: { '/proc/sys/net/core/rmem_max': '212992' } },
    {
      verdict: 'note',
      found: /212992/,
      fix: /sysctl -w net.core.rmem_max=4194304/,
      change: 'echo 4194304 | sudo tee /proc/sys/net/core/rmem_max',
    },
  ],
  ['a system that hides its buffer limit', socketBuffers, {}, { verdict: 'good', found: /not visible/ }],
  [
    'a port in use',
    ports([['link.commandPort', 'udp', 4750]]),
    {
      taken: [4750],
      commands: {
        'ss -H -n -l -p -u sport = :4750':
          'UNCONN 0 0 127.0.0.1:4750 0.0.0.0:* users:(("node",pid=77,fd=20))',
      },
    },
    { verdict: 'note', found: /udp 4750 .* by node \(process 77\)/, fix: /link.commandPort=4850/ },
  ],
  ['free ports', ports([['console.port', 'tcp', 4747]]), {}, { verdict: 'good', found: /tcp 4747/ }],
  [
    'a power-saving governor',
    governor,
    { files: { ...governorOf(0, 'powersave'), ...governorOf(1, 'performance') } },
    {
      verdict: 'note',
      found: /powersave on 1 of 2/,
      why: /millisecond/,
      change: `echo performance | sudo tee ${CPU}/cpu0/cpufreq/scaling_governor`,
    },
  ],
  [
    'a performance governor',
    governor,
    { files: governorOf(0, 'performance') },
    { verdict: 'good', found: /performance/ },
  ],
  ['a virtual machine without a governor', governor, {}, { verdict: 'good', found: /virtual machine/ }],
  [
    'a slow clock source',
    clockSource,
    {
      files: {
        [`${CLOCK}/current_clocksource`]: 'hpet',
        [`${CLOCK}/available_clocksource`]: 'tsc hpet acpi_pm',
      },
    },
    { verdict: 'note', found: /hpet, tsc is available/, why: /0\.00\d/, fix: /unstable.*tee/ },
  ],
  [
    'a fast clock source',
    clockSource,
    { files: { [`${CLOCK}/current_clocksource`]: 'tsc' } },
    { verdict: 'good', found: /tsc/ },
  ],
  [
    'a large timer slack',
    timerSlack,
    { files: { '/proc/self/timerslack_ns': '4000000' } },
    { verdict: 'note', found: /4000 µs/, why: /4\.0 ms/ },
  ],
  [
    'the default timer slack',
    timerSlack,
    { files: { '/proc/self/timerslack_ns': '50000' } },
    { verdict: 'good', found: /50 µs/ },
  ],
  [
    'a busy machine',
    otherLoad,
    { load: { busyPercent: 350, stealPercent: 0, cores: 4 } },
    { verdict: 'note', found: /350 % .*4 cores/, fix: /realtimePriority/ },
  ],
  [
    'CPU time stolen by the hypervisor',
    otherLoad,
    { load: { busyPercent: 20, stealPercent: 12, cores: 2 } },
    { verdict: 'note', found: /12 % stolen/, why: /hypervisor/ },
  ],
  [
    'an idle machine',
    otherLoad,
    { load: { busyPercent: 20, stealPercent: 0, cores: 4 } },
    { verdict: 'good', found: /20 %/ },
  ],
  [
    'no native sockets',
    kernelStamps,
    { selfTest: 'darwin' },
    { verdict: 'note', found: /darwin.*userspace/, fix: /koffi/ },
  ],
  [
    'packets without stamps',
    kernelStamps,
    { selfTest: late(1) },
    { verdict: 'note', found: /without a stamp/ },
  ],
  ['packets with stamps', kernelStamps, {}, { verdict: 'good', found: /p50 20 µs/ }],
  [
    'late wake-ups',
    wakeUps,
    { selfTest: late(3e6) },
    { verdict: 'note', found: /p99 3000 µs/, why: /3\.0 ms/ },
  ],
  ['timely wake-ups', wakeUps, {}, { verdict: 'good', found: /p99 40 µs/ }],
  [
    'real-time priority not permitted',
    realtime,
    { privileged: { ...late(1), scheduling: 'normal (fifo:1 denied: EPERM)' } },
    { verdict: 'note', found: /EPERM/, fix: /rtprio/ },
  ],
  [
    'real-time priority permitted',
    realtime,
    { privileged: { ...late(1), scheduling: 'fifo:1' } },
    { verdict: 'good', found: /permitted/ },
  ],
  [
    'DSCP marks lost on the way to the robot',
    marksAndClock('arm'),
    { marks: marks(0, 0xb8) },
    { verdict: 'bad', found: /lost on the way to the robot: at arm 0x0/, fix: /DSCP/ },
  ],
  [
    'DSCP marks lost on the way back',
    marksAndClock('arm'),
    { marks: marks(0xb8, 0) },
    { verdict: 'bad', found: /lost on the way back/ },
  ],
  [
    'DSCP marks kept',
    marksAndClock('arm'),
    { marks: marks(0xb8, 0xb8) },
    { verdict: 'good', found: /at arm EF, on replies EF/ },
  ],
  [
    'a large clock uncertainty',
    marksAndClock('arm'),
    { marks: marks(0xb8, 0xb8, 12) },
    { verdict: 'note', found: /±12\.000 ms/, why: /±12\.0 ms/ },
  ],
  [
    'no echo',
    marksAndClock('arm'),
    { marks: 'no reply' },
    { verdict: 'bad', found: /no reply from arm/, fix: /farhand check echo/ },
  ],
  [
    'DSCP marks not available',
    marksAndClock(null),
    { marks: 'not Linux' },
    { verdict: 'note', found: /not set: not Linux/ },
  ],
  [
    'a CAN bus in bus-off',
    canBuses,
    { files: CAN, commands: { 'ip -details link show can0': canLink('BUS-OFF', 100) } },
    { verdict: 'bad', found: /BUS-OFF, 1000000/, fix: /termination/ },
  ],
  [
    'a CAN bus that is down',
    canBuses,
    { files: { ...CAN, [`${NET}/can0/operstate`]: 'down' } },
    { verdict: 'note', found: /down/, fix: /ip link set can0 up/ },
  ],
  [
    'a CAN bus without automatic restart',
    canBuses,
    { files: CAN, commands: { 'ip -details link show can0': canLink('ERROR-ACTIVE', 0) } },
    { verdict: 'note', found: /not automatic/, fix: /restart-ms 100/ },
  ],
  [
    'a short CAN queue',
    canBuses,
    {
      files: { ...CAN, [`${NET}/can0/tx_queue_len`]: '10' },
      commands: { 'ip -details link show can0': canLink('ERROR-ACTIVE', 100) },
    },
    { verdict: 'note', found: /10 frames/, change: `echo 100 | sudo tee ${NET}/can0/tx_queue_len` },
  ],
  [
    'a serial line without permission',
    serialLines,
    { files: { '/dev/ttyACM0': '' } },
    { verdict: 'bad', found: /may not/, fix: /dialout/ },
  ],
  [
    'a serial adapter with a long latency timer',
    serialLines,
    { usable: ['/dev/ttyUSB0'], files: { '/sys/bus/usb-serial/devices/ttyUSB0/latency_timer': '16' } },
    {
      verdict: 'bad',
      found: /^16 ms$/,
      why: /at most 62 requests/,
      change: 'echo 1 | sudo tee /sys/bus/usb-serial/devices/ttyUSB0/latency_timer',
    },
  ],
  [
    'a missing package',
    packages,
    { packages: { koffi: '3.3.4' } },
    { verdict: 'note', found: /not installed/, fix: /npm install zeromq/ },
  ],
  ['a missing program', programs, {}, { verdict: 'note', found: /not installed/, fix: /apt install/ }],
  ['no keys', pairedKeys, {}, { verdict: 'note', found: /none/, fix: /farhand pair/ }],
];

const WEIGHT = { good: 0, note: 1, bad: 2 } as const;

describe('checks of the doctor', () => {
  for (const [what, check, readings, wanted] of rows)
    it(`${what}: ${wanted.verdict}`, async () => {
      const findings = await check(recordedProbe(readings));
      const finding = findings.find(
        ({ found, verdict }) => verdict === wanted.verdict && wanted.found.test(found),
      );
      assert.ok(finding, JSON.stringify(findings));
      const worst = Math.max(...findings.map(({ verdict }) => WEIGHT[verdict]));
      assert.equal(worst, WEIGHT[finding.verdict], 'no other finding is worse');
      assert.match(finding.why, wanted.why ?? /^/);
      assert.match(finding.fix, wanted.fix ?? /^/);
      if (finding.verdict !== 'good') assert.ok(finding.why !== '' && finding.fix !== '', 'has why and fix');
      const changes = (finding.repairs ?? []).map((repair) => repairText(repair).did);
      assert.deepEqual(changes, wanted.change === undefined ? [] : [wanted.change]);
      assert.ok((finding.repairs ?? []).every(isSafe));
    });

  it('notes the 2.4 GHz band and a weak signal', async () => {
    const link = (freq: number, dbm: number) => ({
      files: WLAN,
      commands: {
        'iw dev wlan0 get power_save': 'Power save: off',
        'iw dev wlan0 link': `Connected to aa:bb (on wlan0)\n\tfreq: ${freq}\n\tsignal: ${dbm} dBm`,
      },
    });
    const radio = async (freq: number, dbm: number) => {
      const findings = await wifi(recordedProbe(link(freq, dbm)));
      return findings.find(({ name }) => name.startsWith('Wi-Fi radio'))!.verdict;
    };
    assert.deepEqual(
      [await radio(2437, -50), await radio(5180, -78), await radio(5180, -50)],
      ['note', 'note', 'good'],
    );
  });

  it('counts the datagrams the kernel dropped', async () => {
    const at = (errors: number) =>
      socketBuffers(
        recordedProbe({
          files: { '/proc/sys/net/core/rmem_max': '8388608', '/proc/net/snmp': snmp(errors) },
        }),
      );
    assert.equal((await at(0)).length, 1);
    assert.match((await at(7))[1]!.found, /^7 datagrams/);
  });

  it('finds nothing bad on a machine without readings', async () => {
    const seen: string[] = [];
    const findings = await examine((finding) => seen.push(finding.name), { probe: recordedProbe({}) });
    assert.deepEqual(
      findings.map(({ name }) => name),
      seen,
    );
    assert.ok(findings.every(({ verdict }) => verdict !== 'bad'));
    assert.deepEqual(rootWouldAdd({ uid: 0 }, findings), []);
    assert.ok(rootWouldAdd({ uid: 1000 }, findings).length >= 2);
  });
});
