import { environmentText, loadText } from '../environment.ts';
import { type Check, checkText, percentileTable } from '../text-table.ts';
import { type FloodReport, isGarbage, total } from './report.ts';

export function floodText(report: FloodReport, checks: readonly Check[]): string {
  const { attack, peace, flood } = report;
  const pairs = (values: Record<string, number>) =>
    Object.entries(values)
      .map((pair) => pair.join(' '))
      .join(', ') || 'none';
  const drops = attack.targets.map(({ name, port }) => [name, attack.dropsByPort[port] ?? 0] as const);
  const byRole = report.roles.map(({ role, counters }) => {
    const sent = total(Object.entries(attack.sentByTarget).filter(([name]) => name.startsWith(role)));
    const counted = total(Object.entries(counters).filter(([reason]) => isGarbage(reason)));
    return `  ${role.padEnd(10)}${counted} of ${sent} sent to it: ${pairs(counters)}`;
  });
  return `${environmentText(report.environment)}

${percentileTable('One-way, ms', [
  { label: 'undisturbed', percentiles: peace.oneWayMs, count: peace.commands },
  { label: 'under flood', percentiles: flood.oneWayMs, count: flood.commands },
])}
Lost ${peace.lost} and ${flood.lost}, rejected ${peace.rejected} and ${flood.rejected}; ${loadText(report.load)}

Sent ${attack.sent} datagrams; ${attack.failed} rejected by the kernel, ${attack.skipped} skipped by a late sender
  by kind   ${pairs(attack.sentByKind)}
  by port   ${pairs(attack.sentByTarget)}
Counted
${byRole.join('\n')}
Kernel drops (receive buffer full) ${report.kernelDrops}: ${pairs(Object.fromEntries(drops.filter(([, n]) => n > 0)))}

${checks.map(checkText).join('\n')}

${checks.every(({ ok }) => ok) ? 'Flood withstood.' : 'Flood FAILED.'}`;
}
