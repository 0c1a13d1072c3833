import { type DemoResult, runDemo } from '../app/run-demo.ts';
import { TeleopError } from '../core/errors.ts';
import type { Percentiles } from '../core/statistics/percentiles.ts';
import type { RoleReport } from '../messages/role-report.ts';
import { haltsText } from '../trace/feel.ts';
import { skewText } from '../trace/skew.ts';
import { PROFILE_NAMES } from '../wire/emulator/profiles.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { cameraLine } from './camera-text.ts';
import { openBrowser } from './open-browser.ts';
import { onEndRequest } from './process.ts';
import { RECORD_SHORTCUTS } from './record-options.ts';

export const demoVerb: Verb = {
  name: 'demo',
  usage: '[--rig NAME|FILE] [key=value …]',
  about: 'Starts a simulated robot, an operator and the console: a robot follows a hand within seconds.',
  details: `With --headless there is no page; the run ends with a summary. With --json the summary is one line:
{"commands":n,"applied":n,"late":n,"dropped":n,"oneWayMs":{…},"variationMs":{…},"segmentsMs":{…},…}
"applied" counts every command that reached the driver, including late ones.`,
  examples: [
    'farhand demo',
    'farhand demo --rig world --link wifi',
    'farhand demo --headless --duration 20 --json',
  ],
  options: {
    rig: RIG_OPTION,
    headless: { type: 'boolean', about: 'no page; for measurements and CI' },
    duration: { type: 'string', value: 'S', about: 'end after S seconds (default: on Ctrl-C)' },
    link: {
      type: 'string',
      value: 'PROFILE',
      about: `put an emulated link between the roles: ${PROFILE_NAMES.join(', ')}`,
    },
    cameras: {
      type: 'boolean',
      about: 'two cameras, if the rig has none: a view of the arm and a test pattern',
    },
    record: RECORD_SHORTCUTS.record,
    task: RECORD_SHORTCUTS.task,
    json: JSON_OPTION,
    'no-open': { type: 'boolean', about: 'do not open a browser' },
  },
  async run(given: Given) {
    expectWords(demoVerb, given, 0, 0);
    const json = given.values['json'] === true;
    const say = json ? () => {} : (text: string) => console.log(text);
    let isStopped = false;
    const stop = new Promise<void>((resolve) => onEndRequest(resolve)).then(() => {
      isStopped = true;
    });
    const run = await runDemo({
      rig: String(given.values['rig'] ?? 'demo'),
      overrides: [...given.overrides, ...recordOverrides(given)],
      headless: given.values['headless'] === true,
      link: given.values['link'] as string | undefined,
      cameras: given.values['cameras'] === true,
      durationS: numberOption(given, 'duration', 1, 86_400),
      stop,
      say,
      onSaving: (text) => console.error(`farhand: ${text}`),
      onUrl(url, lan) {
        say(`\n  Farhand console: ${url}\n${lan}\n  Ctrl-C ends the demo.\n`);
        if (!json && given.values['no-open'] !== true) openBrowser(url);
      },
    }).catch((error: unknown) => {
      // Ended by its user before the first command: there is nothing to report.
      if (isStopped && error instanceof TeleopError && error.code === 'no-trace') return null;
      throw error;
    });
    return run === null ? 0 : report(given, run, say);
  },
};

/** Prints what came of it. Returns the exit code. */
function report(given: Given, run: DemoResult, say: (text: string) => void): number {
  const { summary, link, tracePath, skew, reports, episodes } = run;
  const trouble = recordTrouble(given.values['record'] === true && episodes === 0, reports);
  if (trouble !== '') console.error(`farhand: ${trouble}`);
  const losses = reports.flatMap((report) => report.losses);
  for (const loss of losses) if (loss !== trouble) console.error(`farhand: ${loss}`);
  if (given.values['json'] === true)
    console.log(
      JSON.stringify({ ...summary, ...(link && { link }), ...(skew && { skew }), tracePath, roles: reports }),
    );
  else {
    const latency = summary.oneWayMs;
    say(
      `${summary.commands} commands, ${summary.applied} applied, ${summary.late} late, ${summary.dropped} dropped, ${summary.lost} lost`,
    );
    if (latency) say(latencyLine(latency, summary.clockUncertaintyMs?.max));
    if (skew) say(skewText(skew));
    const halts = haltsText(summary.feel);
    if (halts !== '') say(`nobody asked for: ${halts} (docs/latency.md#feel)`);
    for (const report of reports) say(roleLine(report));
    for (const { cameras } of reports) for (const camera of cameras) say(cameraLine(camera));
    say(`trace: ${tracePath}\nfarhand trace report ${tracePath}`);
  }
  return losses.length === 0 ? 0 : 1;
}

function latencyLine({ p50, p99, max }: Percentiles, uncertaintyMs: number | undefined): string {
  const known = uncertaintyMs === undefined ? '' : `, each ± ${uncertaintyMs} ms (clock uncertainty)`;
  return `one-way p50 ${p50} ms, p99 ${p99} ms, max ${max} ms${known}`;
}

function recordTrouble(isMissed: boolean, reports: readonly RoleReport[]): string {
  const reported = reports.find((report) => report.recordTrouble !== '')?.recordTrouble;
  if (reported !== undefined) return reported;
  return isMissed
    ? 'Nothing was recorded: the robot never followed. If the rig does not arm automatically, add operator.autoArm=true.'
    : '';
}

function recordOverrides({ values }: Given): string[] {
  const { record, task } = RECORD_SHORTCUTS;
  return [
    ...(values['record'] === true ? [`${record.key}=${record.set()}`] : []),
    ...(values['task'] === undefined ? [] : [`${task.key}=${task.set(String(values['task']))}`]),
  ];
}

function roleLine(report: RoleReport): string {
  const max = report.wakeLatenessMs?.max.toFixed(1) ?? '–';
  return `${report.role}: ${report.stallsOver20Ms} stalls over 20 ms (worst wake ${max} ms late), ${report.rssMb.end.toFixed(0)} MB`;
}
