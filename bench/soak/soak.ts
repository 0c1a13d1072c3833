import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import type { RoleReport } from '../../src/messages/role-report.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { print } from '../bench.ts';
import { type DemoRun, demoRun } from '../demo-run.ts';
import { environment, environmentText, type LoadSeen, loadText, meterLoad } from '../environment.ts';
import { Progress } from '../progress.ts';
import { type Check, checkText, percentileTable } from '../text-table.ts';

const MAX_GROWTH_PERCENT = 10;

export const soakBench: Verb = {
  name: 'soak',
  usage: '[--minutes M] [--json] [key=value …]',
  about:
    'Runs the headless demo for minutes: memory, lost receipts and stalls. Exits 1 if one is out of bounds.',
  details: `Memory is that of the whole process, after ten seconds and at the end. A stall is a wake-up of a control loop
more than 20 ms late; on a loaded machine, other load causes these. Settings are passed to the demo.`,
  options: {
    minutes: { type: 'string', value: 'M', about: 'how long to run (default: 10, at least 0.5)' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(soakBench, given, 0, 0);
    const seconds = 60 * (numberOption(given, 'minutes', 0.5, 1440) ?? 10);
    const env = environment();
    const load = meterLoad();
    const run = await new Progress(1, seconds + 2).during('soak', seconds, () =>
      demoRun({ overrides: given.overrides, durationS: seconds }),
    );
    const seen = load();
    const { hz } = loadRig('demo', given.overrides).config.operator;
    const checks = checksOf(run, hz * seconds);
    const { summary, reports: roles } = run;
    print(
      given,
      { bench: 'soak', environment: env, seconds, load: seen, checks, summary, roles },
      `${environmentText(env)}\n\n${soakText(run, checks, seen)}`,
    );
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

function checksOf({ summary, reports }: DemoRun, expected: number): Check[] {
  const checks: Check[] = [
    {
      what: 'commands closed',
      ok: summary.commands >= 0.95 * expected && reports.length === 2,
      found: `${summary.commands} of ${Math.round(expected)}, reports from ${reports.length} roles`,
    },
    { what: 'lost receipts', ok: summary.lost === 0, found: `${summary.lost} (none allowed)` },
  ];
  for (const report of reports) checks.push(...roleChecks(report));
  return checks;
}

function roleChecks({ role, rssMb, stallsOver20Ms, wakeLatenessMs, traceDropped }: RoleReport): Check[] {
  const growth = (100 * (rssMb.end - rssMb.settled)) / rssMb.settled;
  const megabytes = `${rssMb.settled.toFixed(1)} → ${rssMb.end.toFixed(1)} MB`;
  const checks: Check[] = [
    {
      what: `${role}, memory growth`,
      ok: growth <= MAX_GROWTH_PERCENT,
      found: `${growth.toFixed(1)} % (${megabytes}; at most ${MAX_GROWTH_PERCENT} %)`,
    },
    {
      what: `${role}, stalls over 20 ms`,
      ok: stallsOver20Ms === 0,
      found: `${stallsOver20Ms} (none allowed; worst wake ${wakeLatenessMs?.max.toFixed(1) ?? '–'} ms late)`,
    },
  ];
  if (role === 'operator')
    checks.push({
      what: 'operator, trace complete',
      ok: traceDropped === 0,
      found: `${traceDropped} commands missing from the trace`,
    });
  return checks;
}

function soakText({ summary, reports }: DemoRun, checks: readonly Check[], load: LoadSeen): string {
  const rows = [
    { label: 'one-way', percentiles: summary.oneWayMs, count: summary.applied },
    { label: 'variation', percentiles: summary.variationMs },
    ...reports.map(({ role, wakeLatenessMs }) => ({
      label: `${role}, wake lateness`,
      percentiles: wakeLatenessMs,
    })),
  ];
  return [
    percentileTable('Milliseconds', rows),
    loadText(load),
    '',
    ...checks.map(checkText),
    '',
    checks.every(({ ok }) => ok) ? 'Soak passed.' : 'Soak FAILED.',
  ].join('\n');
}
