import { type Check, good, note } from './check.ts';

const CPU = '/sys/devices/system/cpu';

export const governor: Check = async (probe) => {
  const name = 'CPU governor';
  const files = probe
    .list(CPU)
    .filter((entry) => /^cpu\d+$/.test(entry))
    .map((entry) => `${CPU}/${entry}/cpufreq/scaling_governor`);
  const read = files.map((file) => ({ file, value: probe.read(file) }));
  const known = read.filter((one): one is { file: string; value: string } => one.value !== null);
  if (known.length === 0) return [good(name, 'cannot be set here (usually a virtual machine)')];
  const slow = known.filter(({ value }) => value !== 'performance');
  if (slow.length === 0) return [good(name, `performance on all ${known.length} processors`)];
  return [
    note(name, {
      found: `${[...new Set(slow.map(({ value }) => value))].join(', ')} on ${slow.length} of ${known.length} processors`,
      why: 'a loop that computes briefly and sleeps runs at the lowest clock rate: each tick takes several times as long, up to a millisecond or more (an estimate)',
      fix: `echo performance | sudo tee ${CPU}/cpu*/cpufreq/scaling_governor`,
      repairs: slow.map(({ file, value }) => ({
        kind: 'write',
        path: file,
        value: 'performance',
        previous: value,
      })),
    }),
  ];
};

/** Clocks that are read without a system call. */
const FAST_CLOCKS = [
  'tsc',
  'arch_sys_counter',
  'kvm-clock',
  'riscv_clocksource',
  'hyperv_clocksource_tsc_page',
];

export const clockSource: Check = async (probe) => {
  const name = 'clock source';
  const folder = '/sys/devices/system/clocksource/clocksource0';
  const current = probe.read(`${folder}/current_clocksource`);
  if (current === null) return [good(name, 'not visible on this system')];
  if (FAST_CLOCKS.includes(current)) return [good(name, current)];
  const others = (probe.read(`${folder}/available_clocksource`) ?? '').split(/\s+/);
  const better = FAST_CLOCKS.find((clock) => others.includes(clock));
  return [
    note(name, {
      found: `${current}${better ? `, ${better} is available` : ''}`,
      why: 'every stamp is a system call: 0.001 to 0.005 ms each, a dozen per command, and coarser (an estimate)',
      fix: better
        ? `unless the kernel marked it unstable (dmesg | grep -i tsc): echo ${better} | sudo tee ${folder}/current_clocksource`
        : 'boot with tsc=reliable if the processor has a constant TSC',
    }),
  ];
};

const USUAL_SLACK_NS = 50_000;

export const timerSlack: Check = async (probe) => {
  const name = 'timer slack';
  const text = probe.read('/proc/self/timerslack_ns');
  if (text === null) return [good(name, 'not visible on this system')];
  const slackNs = Number(text);
  const found = `${(slackNs / 1000).toFixed(0)} µs; control threads set 1 ns themselves`;
  if (slackNs <= USUAL_SLACK_NS) return [good(name, found)];
  return [
    note(name, {
      found,
      why: `main and trace threads wake up to ${(slackNs / 1e6).toFixed(1)} ms late; they have no deadlines`,
      fix: 'start Farhand from a shell or service without TimerSlackNSec',
    }),
  ];
};

const BUSY_SHARE = 0.5;
const STEAL_PERCENT = 5;

export const otherLoad: Check = async (probe) => {
  const name = 'other load';
  const load = await probe.load();
  if (load === null) return [good(name, 'not visible on this system')];
  const { busyPercent, stealPercent, cores } = load;
  const steal = stealPercent >= 1 ? `, ${stealPercent.toFixed(0)} % stolen by the hypervisor` : '';
  const found = `${busyPercent.toFixed(0)} % of ${100 * cores} % busy (${cores} cores)${steal}`;
  if (stealPercent > STEAL_PERCENT)
    return [
      note(name, {
        found,
        why: 'nothing runs here while the hypervisor serves other guests: stalls of 1 to 50 ms that no setting can fix (an estimate)',
        fix: 'use a dedicated machine, or a host with less load',
      }),
    ];
  if (busyPercent < BUSY_SHARE * 100 * cores) return [good(name, found)];
  return [
    note(name, {
      found,
      why: 'a control thread may have to wait 1 to 10 ms, more without real-time priority (an estimate)',
      fix: 'end other programs (see top), or set robot.realtimePriority=60 operator.realtimePriority=60; keep video encoders unprivileged',
    }),
  ];
};
