import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseVerb, type Verb, verbHelp } from '../src/cli/arguments.ts';
import { TeleopError } from '../src/core/errors.ts';
import { closest } from '../src/core/suggest.ts';
import { brachioplexusBench } from './brachioplexus/brachioplexus.ts';
import { camerasBench } from './cameras/cameras.ts';
import { consoleBench } from './console/console.ts';
import { curateBench } from './curate/curate.ts';
import { damiaoBench } from './damiao/damiao.ts';
import { demonstrationsBench } from './demonstrations/demonstrations.ts';
import { dynamixelBench } from './dynamixel/dynamixel.ts';
import { estopBench } from './estop/estop.ts';
import { exportBench } from './export/export.ts';
import { faultsBench } from './faults/faults.ts';
import { feetechBench } from './feetech/feetech.ts';
import { fleetBench } from './fleet/fleet.ts';
import { floodBench } from './flood/flood.ts';
import { handsBench } from './hands/hands.ts';
import { interruption } from './interrupt.ts';
import { kinematicsBench } from './kinematics/kinematics.ts';
import { librariesBench } from './libraries/libraries.ts';
import { liveBench } from './live/live.ts';
import { loopBench } from './loop/loop.ts';
import { motionBench } from './motion/motion.ts';
import { pageBench } from './page/page.ts';
import { piperBench } from './piper/piper.ts';
import { playoutBench } from './playout/playout.ts';
import { profilerBench } from './profiler/profiler.ts';
import { rctpBench } from './rctp/rctp.ts';
import { recordBench } from './record/record.ts';
import { relayBench } from './relay/relay.ts';
import { reportBench } from './report/report.ts';
import { retargetBench } from './retarget/retarget.ts';
import { soakBench } from './soak/soak.ts';
import { supervisorBench } from './supervisor/supervisor.ts';
import { tailsBench } from './tails/tails.ts';
import { tasksBench } from './tasks/tasks.ts';
import { touchBench } from './touch/touch.ts';
import { transportsBench } from './transports/transports.ts';
import { videoBench } from './video/video.ts';
import { wireBench } from './wire/wire.ts';
import { worldBench } from './world/world.ts';

const BENCHES: readonly Verb[] = [
  loopBench,
  wireBench,
  soakBench,
  floodBench,
  playoutBench,
  liveBench,
  transportsBench,
  rctpBench,
  tasksBench,
  worldBench,
  touchBench,
  supervisorBench,
  tailsBench,
  kinematicsBench,
  motionBench,
  brachioplexusBench,
  piperBench,
  damiaoBench,
  dynamixelBench,
  feetechBench,
  relayBench,
  recordBench,
  retargetBench,
  handsBench,
  estopBench,
  faultsBench,
  camerasBench,
  videoBench,
  exportBench,
  curateBench,
  reportBench,
  profilerBench,
  fleetBench,
  consoleBench,
  demonstrationsBench,
  pageBench,
  librariesBench,
];
const RUN = 'npm run bench --';

/** Exit codes: 0 success, 1 a requirement not met or the run failed, 2 wrong usage. */
async function main(args: readonly string[]): Promise<number> {
  const [name = '--help', ...rest] = args;
  if (name === '--help' || name === '-h' || name === 'help') {
    console.log(overview());
    return 0;
  }
  const bench = BENCHES.find((candidate) => candidate.name === name);
  if (bench === undefined) {
    const names = BENCHES.map((candidate) => candidate.name);
    const near = closest(name, names);
    const hint = near ? `Did you mean \`${RUN} ${near}\`?` : `Use one of ${names.join(', ')}.`;
    throw new TeleopError('bad-option', `there is no bench "${name}"`, { hint });
  }
  const given = parseVerb(bench, rest);
  if (given.values['help'] === true) {
    console.log(inOurWords(verbHelp(bench)));
    return 0;
  }
  return bench.run(given);
}

function overview(): string {
  const benches = BENCHES.map((bench) => `  ${bench.name.padEnd(15)}${bench.about}`).join('\n');
  return `Usage: ${RUN} NAME [options]

${benches}

\`${RUN} NAME --help\` shows the options of a bench; docs/benchmarks.md explains the figures.
`;
}

/** Help texts name the CLI's program; this replaces it. */
function inOurWords(text: string): string {
  const names = BENCHES.map((bench) => bench.name).join('|');
  return text.replace(new RegExp(`\\bfarhand (?=(${names})\\b)`, 'g'), `${RUN} `);
}

// Every run starts with an empty state folder, and leaves nothing behind for the user's robots.
const state = mkdtempSync(path.join(tmpdir(), 'farhand-bench-'));
process.env['FARHAND_STATE'] = state;
process.on('exit', () => rmSync(state, { recursive: true, force: true }));

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (interruption.aborted) {
    console.error('bench: interrupted');
    process.exitCode = 130;
  } else if (error instanceof TeleopError) {
    console.error(`bench: ${error.message}\n  → ${inOurWords(error.hint)}`);
    process.exitCode = error.code === 'bad-option' || error.code === 'bad-config' ? 2 : 1;
  } else throw error;
}
