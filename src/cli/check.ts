import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { compareOn } from '../app/check/compare-links.ts';
import { runCheck } from '../app/check/run-check.ts';
import { TRANSPORTS } from '../app/compare-transports.ts';
import { checkJson, checkText, writeReport } from '../check/check-report.ts';
import { ECHO_PORT } from '../check/echo-packet.ts';
import { serveEcho } from '../check/echo-service.ts';
import { KIND_USAGE } from '../check/kind.ts';
import type { CheckResult } from '../check/result.ts';
import { TeleopError } from '../core/errors.ts';
import { hostPort } from '../core/ip-address.ts';
import { packageRoot } from '../files/package-root.ts';
import { loadRig } from '../rig/rig.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { comparisonText } from './comparison-text.ts';
import { onEndRequest, parentChannel } from './process.ts';
import { progressLine } from './progress.ts';

export const checkVerb: Verb = {
  name: 'check',
  usage: `${KIND_USAGE}|echo [--duration S] [--budget FILE] [--robot HOST] [key=value …]`,
  about: 'Measures the whole loop over a link, and fails if any limit of its budget is exceeded.',
  details: `Starts robot and operator, switches to teleoperation, measures, ends both, and writes the report beside the trace.
  local        both roles on this machine, over loopback
  wired        two network namespaces joined by a virtual cable (needs root), or a real robot with --robot
  wireless     the emulated link "wifi", or a real robot with --robot
  profile:NAME any emulated link; \`farhand link --help\` lists them
  echo         answers probes; run it on the robot's machine beside \`farhand robot\`
--robot, and every driver but sim, needs --arm: the robot will be armed and follow the rig's input.
Exit codes: 0 all limits met, 1 a limit exceeded or the run failed, 2 wrong usage. See docs/check.md.`,
  examples: [
    'farhand check local',
    'farhand check profile:wifi --duration 30',
    'farhand check wireless --robot 192.168.1.20 --arm',
  ],
  options: {
    rig: RIG_OPTION,
    duration: { type: 'string', value: 'S', about: 'seconds to measure (default: 60)' },
    settle: {
      type: 'string',
      value: 'S',
      about: 'seconds to settle first (default: 10, at most the duration)',
    },
    budget: { type: 'string', value: 'FILE', about: 'limits, YAML (default: the shipped file for the link)' },
    robot: { type: 'string', value: 'HOST', about: 'a robot on another machine, paired with this one' },
    arm: { type: 'boolean', about: 'confirm that the robot’s surroundings are clear and it may move' },
    compare: {
      type: 'string',
      value: 'udp,zmq,…',
      about: `instead, compare transports, alternating, with 95 % intervals: ${TRANSPORTS.join(', ')}`,
    },
    slices: { type: 'string', value: 'N', about: 'with --compare: slices of each transport (default: 6)' },
    'no-baseline': { type: 'boolean', about: 'do not probe the network path during the run' },
    listen: { type: 'string', value: 'ADDRESS', about: 'echo: address to listen on (default: 127.0.0.1)' },
    'echo-port': { type: 'string', value: 'PORT', about: `UDP port of the echo (default: ${ECHO_PORT})` },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(checkVerb, given, 1, 1);
    if (given.words[0] === 'echo') return echo(given);
    return given.values['compare'] === undefined ? check(given) : compare(given);
  },
};

const DEFAULT_S = 60;
/** Adaptive playout needs about this long to learn a link. */
const DEFAULT_SETTLE_S = 10;

const echoPortOf = (given: Given): number =>
  Math.round(numberOption(given, 'echo-port', 0, 65_535) ?? ECHO_PORT);

async function echo(given: Given): Promise<number> {
  const host = String(given.values['listen'] ?? '127.0.0.1');
  const service = await serveEcho(host, echoPortOf(given));
  onEndRequest(() => service.stop());
  void parentChannel()({ kind: 'ready', info: { ports: [service.port] } });
  const json = given.values['json'] === true;
  if (!json) console.log(`echo ready on UDP ${hostPort(host, service.port)}; press Ctrl-C to end`);
  const counts = await service.done;
  console.log(json ? JSON.stringify(counts) : `${counts.answered} answered, ${counts.ignored} ignored`);
  return 0;
}

/** Any robot but the simulated one moves only with an explicit --arm. */
function mayMove(given: Given, rig: string, robotHost: string | null): void {
  const { driver } = loadRig(rig, given.overrides).config.robot;
  if (given.values['arm'] === true || (robotHost === null && driver === 'sim')) return;
  const which = robotHost === null ? `of rig "${rig}" (driver ${driver})` : `at ${robotHost}`;
  throw new TeleopError('bad-option', `the robot ${which} would be armed and would move`, {
    hint: 'Clear its surroundings, keep its emergency stop within reach, and add --arm.',
  });
}

function checkOptions(given: Given) {
  const robotHost = (given.values['robot'] as string | undefined) ?? null;
  const rig = String(given.values['rig'] ?? 'demo');
  mayMove(given, rig, robotHost);
  const json = given.values['json'] === true;
  const durationS = numberOption(given, 'duration', 1, 86_400) ?? DEFAULT_S;
  const progress = progressLine('measuring');
  return {
    kind: given.words[0]!,
    rig,
    overrides: given.overrides,
    durationS,
    settleS: numberOption(given, 'settle', 0, 3600) ?? Math.min(DEFAULT_SETTLE_S, durationS),
    budget: (given.values['budget'] as string | undefined) ?? null,
    robotHost,
    echoPort: echoPortOf(given),
    baseline: given.values['no-baseline'] !== true,
    stop: new Promise<void>((resolve) => onEndRequest(resolve)),
    onPhase: (text: string) => {
      progress.done();
      if (!json) console.error(`${text} …`);
    },
    onProgress: progress.update,
    json,
    endProgress: progress.done,
  };
}

async function check(given: Given): Promise<number> {
  const { json, endProgress, ...options } = checkOptions(given);
  const result = await runCheck(options).finally(endProgress);
  for (const loss of result.measured.roles.flatMap(({ losses }) => losses)) console.error(`farhand: ${loss}`);
  const files = writeReport(result);
  const page = await writePage(result, files.html);
  if (json) console.log(JSON.stringify(checkJson(result)));
  else {
    const names = [files.text, files.json, ...(page ? [files.html] : [])];
    console.log(`${checkText(result, process.stdout.columns ?? 120)}Report    ${names.join('\n          ')}`);
  }
  return result.ok ? 0 : 1;
}

/** Writes the page of `farhand trace report --html`; if that fails, the check still counts. */
async function writePage({ tracePath }: CheckResult, file: string): Promise<boolean> {
  const bin = path.join(packageRoot, 'bin', 'farhand');
  return promisify(execFile)(process.execPath, [bin, 'trace', 'report', tracePath, '--html', file]).then(
    () => true,
    (error: Error) => {
      console.error(`farhand: the HTML report was not written: ${error.message.split('\n')[0]}`);
      return false;
    },
  );
}

async function compare(given: Given): Promise<number> {
  const asked = String(given.values['compare']).split(',');
  const transports = TRANSPORTS.filter((name) => asked.includes(name));
  if (transports.length < 2 || transports.length !== asked.length)
    throw new TeleopError('bad-option', `--compare ${asked.join(',')} is not valid`, {
      hint: `Name two or more of ${TRANSPORTS.join(',')}.`,
    });
  const { json, endProgress, ...options } = checkOptions(given);
  const slices = Math.round(numberOption(given, 'slices', 2, 1000) ?? 6);
  const { result, file } = await compareOn({ ...options, transports, slices }).finally(endProgress);
  console.log(json ? JSON.stringify(result) : `${comparisonText(result)}\nReport    ${file}`);
  return 0;
}
