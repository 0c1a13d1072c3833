import { TeleopError } from '../core/errors.ts';
import { readTraceParts } from '../trace/read-file.ts';
import { createReport, summaryOf } from '../trace/report.ts';
import { reportText } from '../trace/report-text.ts';
import { type Given, JSON_OPTION, type Verb } from './arguments.ts';
import { progressLine } from './progress.ts';

export const traceVerb: Verb = {
  name: 'trace',
  usage: 'report FILE…',
  about: 'Tells from a trace where the time went: per segment p50/p95/p99/max of latency and of variation.',
  details:
    'FILE is a robot_trace_*.jsonl; its further parts are followed. Several files are reported as one run.',
  options: { json: JSON_OPTION },
  async run(given: Given) {
    const [action, ...paths] = given.words;
    if (action !== 'report' || paths.length === 0)
      throw new TeleopError(
        'bad-option',
        action === 'report' ? 'no trace file given' : `trace has no action "${action ?? ''}"`,
        {
          hint: 'Use `farhand trace report traces/robot_trace_….jsonl`.',
        },
      );
    const report = createReport();
    const progress = progressLine('reading');
    const files = [];
    for (const path of paths)
      files.push(...(await readTraceParts(path, (record) => report.add(record), progress.update)));
    progress.done();
    const finished = report.finish();
    if (given.values['json'] === true) console.log(JSON.stringify(summaryOf(finished)));
    else console.log(reportText(finished, files, process.stdout.columns ?? 120));
    return 0;
  },
};
