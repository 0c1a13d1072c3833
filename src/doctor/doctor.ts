import { ECHO_PORT } from '../check/echo-packet.ts';
import { loadRig } from '../rig/rig.ts';
import type { Check, Finding } from './check.ts';
import { canBuses, serialLines } from './device-checks.ts';
import { kernelStamps, marksAndClock, realtime, wakeUps } from './link-checks.ts';
import { machineProbe } from './machine-probe.ts';
import { cable, mtu, type PortUse, ports, socketBuffers, wifi } from './network-checks.ts';
import type { Probe } from './probe.ts';
import { clockSource, governor, otherLoad, timerSlack } from './processor-checks.ts';
import { packages, pairedKeys, programs } from './program-checks.ts';
import { repairsOf } from './repair.ts';

export interface ExamineOptions {
  /** A robot's host on which `farhand check echo` runs. */
  robotHost?: string | null;
  echoPort?: number;
  probe?: Probe;
}

/** Looks at this machine, one check after the other: they measure, and must not disturb each other. */
export async function examine(
  onFinding: (finding: Finding) => void,
  { robotHost = null, echoPort = ECHO_PORT, probe = machineProbe(echoPort) }: ExamineOptions = {},
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of checksFor(robotHost))
    for (const finding of await check(probe)) {
      findings.push(finding);
      onFinding(finding);
    }
  return findings;
}

const checksFor = (robotHost: string | null): Check[] => [
  // What measures changes its own thread's slack: it is read first.
  timerSlack,
  otherLoad,
  kernelStamps,
  wakeUps,
  realtime,
  governor,
  clockSource,
  marksAndClock(robotHost),
  wifi,
  cable,
  mtu,
  socketBuffers,
  ports(rigPorts()),
  canBuses,
  serialLines,
  packages,
  programs,
  pairedKeys,
];

function rigPorts(): PortUse[] {
  const { link, console: desk } = loadRig('demo', []).config;
  return [
    ['link.commandPort', 'udp', link.commandPort],
    ['link.statePort', 'udp', link.statePort],
    ['link.syncPort', 'udp', link.syncPort],
    ['console.port', 'tcp', desk.port],
    ['console.deskPort', 'udp', desk.deskPort],
    ['console.telemetryPort', 'udp', desk.telemetryPort],
  ];
}

/** What this user does not get to see or do; nothing for root. */
export function rootWouldAdd(probe: Pick<Probe, 'uid'>, findings: readonly Finding[]): string[] {
  if (probe.uid === 0 || probe.uid < 0) return [];
  const fixes = repairsOf(findings).length;
  const lines = ['`farhand check wired` with a cable between two network namespaces of this machine'];
  lines.push('ICMP beside a check, where ping sockets are not open to this group');
  if (findings.some(({ name, verdict }) => name === 'real-time scheduling' && verdict !== 'good'))
    lines.push('real-time priority for the control threads');
  if (fixes > 0) lines.push(`\`farhand doctor --fix\`: ${fixes} of the changes above`);
  return lines;
}
