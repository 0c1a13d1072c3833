import { ECHO_PORT } from '../check/echo-packet.ts';
import { loadRig } from '../rig/rig.ts';
import type { Check, Finding } from './check.ts';
import { canBuses, serialLines } from './device-checks.ts';
import { kernelStamps, marksAndClock, realtime, timeSlice, wakeUps } from './link-checks.ts';
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
  /** Farhand itself holds its ports. */
  isRunning?: boolean;
  probe?: Probe;
}

/** Checks this machine, one check at a time, so that measurements do not disturb each other. */
export async function examine(
  onFinding: (finding: Finding) => unknown,
  {
    robotHost = null,
    echoPort = ECHO_PORT,
    isRunning = false,
    probe = machineProbe(echoPort),
  }: ExamineOptions = {},
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of checksFor(robotHost, isRunning))
    for (const finding of await check(probe)) {
      findings.push(finding);
      onFinding(finding);
    }
  return findings;
}

const checksFor = (robotHost: string | null, isRunning: boolean): Check[] => [
  // Read first, because the measurements change their thread's timer slack.
  timerSlack,
  otherLoad,
  kernelStamps,
  wakeUps,
  timeSlice,
  realtime,
  governor,
  clockSource,
  marksAndClock(robotHost),
  wifi,
  cable,
  mtu,
  socketBuffers,
  ...(isRunning ? [] : [ports(rigPorts())]),
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

/** What root could check or change in addition; empty for root. */
export function rootWouldAdd(probe: Pick<Probe, 'uid'>, findings: readonly Finding[]): string[] {
  if (probe.uid === 0 || probe.uid < 0) return [];
  const fixes = repairsOf(findings).length;
  const lines = ['`farhand check wired` with a virtual cable between two network namespaces'];
  lines.push('ICMP probes during a check, if this group may not open ping sockets');
  if (findings.some(({ name, verdict }) => name === 'real-time scheduling' && verdict !== 'good'))
    lines.push('real-time priority for the control threads');
  if (fixes > 0) lines.push(`\`farhand doctor --fix\`: ${fixes} of the changes above`);
  return lines;
}
