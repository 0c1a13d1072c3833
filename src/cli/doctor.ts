import type { Finding } from '../doctor/check.ts';
import { examine, rootWouldAdd } from '../doctor/doctor.ts';
import { applyRepair, type Repaired, repairsOf, repairText } from '../doctor/repair.ts';
import { worstFirst } from '../messages/findings.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from './arguments.ts';

const MARKS = { good: '✓', note: '!', bad: '✗' } as const;

export const doctorVerb: Verb = {
  name: 'doctor',
  usage: '[--fix] [--robot HOST]',
  about: 'Checks this machine: what it found, why it matters, and the command that fixes it.',
  details: `Without --fix nothing is changed. --fix shows and applies the changes that can be undone and that a reboot
reverts: Wi-Fi power save, CPU governor, socket buffers, FTDI latency timer, CAN queue. Most need root.
With --robot, packet marks and clock are measured against \`farhand check echo\` on that host. Exit code 1: a check
failed (✗). See docs/doctor.md.`,
  examples: ['farhand doctor', 'farhand doctor --fix', 'farhand doctor --robot 192.168.1.20'],
  options: {
    fix: { type: 'boolean', about: 'apply the safe changes, after showing them' },
    robot: { type: 'string', value: 'HOST', about: 'also measure the path to this host' },
    'echo-port': { type: 'string', value: 'PORT', about: 'UDP port of its echo service (default: 4754)' },
    running: { type: 'boolean', about: 'Farhand runs here: do not report its ports as taken' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(doctorVerb, given, 0, 0);
    const json = given.values['json'] === true;
    const robotHost = (given.values['robot'] as string | undefined) ?? null;
    const echoPort = numberOption(given, 'echo-port', 1, 65_535);
    const line = (shown: string) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${shown}`);
    const findings = await examine(({ name }) => line(`checked: ${name}`), {
      robotHost,
      isRunning: given.values['running'] === true,
      ...(echoPort !== null && { echoPort: Math.round(echoPort) }),
    });
    line('');
    if (!json) for (const finding of worstFirst(findings)) console.log(text(finding));
    const more = rootWouldAdd({ uid: process.getuid?.() ?? -1 }, findings);
    if (!json && more.length > 0)
      console.log(`Root could also use:\n${more.map((line) => `    ${line}`).join('\n')}`);
    if (given.values['fix'] === true) return fix(findings, json);
    if (json) console.log(JSON.stringify(findings));
    return exitCode(findings);
  },
};

const exitCode = (findings: readonly Finding[]): number =>
  findings.some((finding) => finding.verdict === 'bad') ? 1 : 0;

function fix(findings: readonly Finding[], json: boolean): number {
  const repairs = repairsOf(findings);
  if (!json) {
    console.log(repairs.length === 0 ? '\nNothing for --fix to change.' : '\nChanges:');
    for (const repair of repairs) console.log(`    ${repairText(repair).did}`);
  }
  const done: Repaired[] = repairs.map((repair) => {
    const repaired = applyRepair(repair);
    if (!json) console.log(repairedText(repaired));
    return repaired;
  });
  if (json) console.log(JSON.stringify({ findings, repaired: done }));
  const unrepaired = findings.filter(({ repairs: own = [] }) => own.length === 0);
  return done.some(({ failed }) => failed !== null) ? 1 : exitCode(unrepaired);
}

const repairedText = ({ did, undo, failed }: Repaired): string =>
  failed === null ? `✓ done: ${did}\n    undo: ${undo}` : `✗ not done (${failed}): ${did}`;

function text({ name, verdict, found, why, fix }: Finding): string {
  const lines = [`${MARKS[verdict]} ${name}: ${found}`];
  if (why !== '') lines.push(`    why: ${why}`);
  if (fix !== '') lines.push(`    fix: ${fix}`);
  return lines.join('\n');
}
