import type { Given, Verb } from '../../src/cli/arguments.ts';
import { expectWords, JSON_OPTION } from '../../src/cli/arguments.ts';
import { print } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';
import { checkText } from '../text-table.ts';
import { checkCdr, compareCdr } from './cdr.ts';
import { compareCertificates } from './certificates.ts';
import { comparisonText } from './compare.ts';

/** A failed check is a finding about the library; the exit code is 0. */
export const librariesBench: Verb = {
  name: 'libraries',
  usage: '[--x509 FOLDER]',
  about:
    'Our code compared with the library that could replace it: time and memory per call, and equal results.',
  options: {
    x509: {
      type: 'string',
      value: 'FOLDER',
      about:
        'folder of `npm install --prefix FOLDER @peculiar/x509 reflect-metadata`, to compare certificates too',
    },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(librariesBench, given, 0, 0);
    const folder = given.values['x509'];
    const load = meterLoad();
    const parts = [
      { rows: await compareCdr(), checks: checkCdr() },
      ...(typeof folder === 'string' ? [await compareCertificates(folder)] : []),
    ];
    const [rows, checks] = [parts.flatMap((part) => part.rows), parts.flatMap((part) => part.checks)];
    const [env, seen] = [environment(), load()];
    const head = [environmentText(env), `Load      ${loadText(seen)}`, ''];
    const text = [...head, ...rows.map(comparisonText), '', ...checks.map(checkText)].join('\n');
    print(given, { environment: env, load: seen, rows, checks }, text);
    return 0;
  },
};
