import { bad, type Check, type Finding, good, note } from './check.ts';
import type { Probe } from './probe.ts';

const NET = '/sys/class/net';
const CAN_TYPE = '280';
const WANTED_QUEUE = 100;

export const canBuses: Check = async (probe) => {
  const names = probe.list(NET).filter((name) => probe.read(`${NET}/${name}/type`) === CAN_TYPE);
  if (names.length === 0) return [good('CAN', 'no interface')];
  return names.flatMap((name) => canBus(probe, name));
};

function canBus(probe: Probe, interfaceName: string): Finding[] {
  const name = `CAN, ${interfaceName}`;
  const reported = probe.run('ip', '-details', 'link', 'show', interfaceName) ?? '';
  const bitrate = /bitrate (\d+)/.exec(reported)?.[1];
  const state = /can (?:<[^>]*> )?state (\S+)/.exec(reported)?.[1] ?? 'unknown';
  if (probe.read(`${NET}/${interfaceName}/operstate`) === 'down')
    return [
      note(name, {
        found: 'down',
        why: 'no driver can use it',
        fix: `sudo ip link set ${interfaceName} up type can bitrate 1000000 restart-ms 100`,
      }),
    ];
  if (state === 'BUS-OFF' || state === 'ERROR-PASSIVE')
    return [
      bad(name, {
        found: `${state}, ${bitrate ?? 'unknown'} bit/s`,
        why: 'frames are rejected or repeated: the robot does not move, or moves late',
        fix: `check wiring, termination (60 Ω between the lines) and bit rate; then sudo ip link set ${interfaceName} down, and up again`,
      }),
    ];
  const findings = [good(name, `${state}, ${bitrate ?? 'unknown'} bit/s`)];
  const queueFile = `${NET}/${interfaceName}/tx_queue_len`;
  const queue = probe.read(queueFile);
  if (queue !== null && Number(queue) < WANTED_QUEUE)
    findings.push(
      note(`${name} queue`, {
        found: `${queue} frames`,
        why: 'a burst for several motors is rejected ("no buffer space"): one command is lost, 10 ms',
        fix: `sudo ip link set ${interfaceName} txqueuelen ${WANTED_QUEUE}`,
        repairs: [{ kind: 'write', path: queueFile, value: String(WANTED_QUEUE), previous: queue }],
      }),
    );
  if (/restart-ms 0\b/.test(reported))
    findings.push(
      note(`${name} restart`, {
        found: 'not automatic',
        why: 'after a bus-off the bus stays down until it is restarted by hand',
        fix: `sudo ip link set ${interfaceName} down; sudo ip link set ${interfaceName} up type can restart-ms 100`,
      }),
    );
  return findings;
}

export const serialLines: Check = async (probe) => {
  const lines = probe.list('/dev').filter((name) => /^tty(USB|ACM)\d+$/.test(name));
  if (lines.length === 0) return [good('serial lines', 'no USB adapter')];
  return lines.flatMap((line) => [permission(probe, line), ...latencyTimer(probe, line)]);
};

function permission(probe: Probe, line: string): Finding {
  const name = `serial line /dev/${line}`;
  if (probe.mayUse(`/dev/${line}`)) return good(name, 'accessible');
  return bad(name, {
    found: 'this user may not read and write it',
    why: 'no driver can open it',
    fix: 'sudo usermod -aG dialout "$USER", then log in again',
  });
}

/** FTDI adapters wait this long for more bytes before they deliver what they have. */
function latencyTimer(probe: Probe, line: string): Finding[] {
  const file = `/sys/bus/usb-serial/devices/${line}/latency_timer`;
  const text = probe.read(file);
  if (text === null) return [];
  const name = `latency timer, ${line}`;
  const waitMs = Number(text);
  if (waitMs <= 1) return [good(name, `${waitMs} ms`)];
  return [
    bad(name, {
      found: `${waitMs} ms`,
      why: `each reply from the bus may wait ${waitMs} ms in the adapter: at most ${Math.floor(1000 / waitMs)} requests a second`,
      fix: `echo 1 | sudo tee ${file}`,
      repairs: [{ kind: 'write', path: file, value: '1', previous: text }],
    }),
  ];
}
