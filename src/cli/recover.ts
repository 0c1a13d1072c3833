import { existsSync, statSync } from 'node:fs';
import { packageVersion } from '../app/paths.ts';
import { recoveryText } from '../app/record/recovery-text.ts';
import { TeleopError } from '../core/errors.ts';
import { McapFile } from '../record/mcap/index-reader.ts';
import { recoverEpisode, recoveryPath } from '../record/recover.ts';
import { expectWords, type Given, JSON_OPTION, type Verb } from './arguments.ts';

/** As the recovery of other MCAP tools: something was lost. */
const WITH_LOSS = 3;

export const recoverVerb: Verb = {
  name: 'recover',
  usage: 'FILE [--output FILE]',
  about: 'Mends a recording that was cut off or damaged: keeps what is whole, rebuilds indexes and summary.',
  details: `FILE stays as it is. X.mcap.part becomes X.mcap, X.mcap becomes X.recovered.mcap, unless --output names another.
Any MCAP file with uncompressed chunks will do. Exit code 0: nothing that was written is lost; 3: recovered with loss.`,
  options: {
    output: { type: 'string', value: 'FILE', about: 'where to write what is recovered' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(recoverVerb, given, 1, 1);
    const [file = ''] = given.words;
    const sizeBytes = sizeOf(file);
    const startedMs = performance.now();
    const into = String(given.values['output'] ?? recoveryPath(file));
    if (existsSync(into)) throw taken(into);
    const found = recoverEpisode(file, into, packageVersion());
    const tookS = (performance.now() - startedMs) / 1000;
    if (given.values['json'] === true) console.log(JSON.stringify({ ...found, sizeBytes, tookS }));
    else
      console.log(
        `${recoveryText(file, found)}\n${(sizeBytes / 1e6).toFixed(1)} MB read in ${tookS.toFixed(2)} s`,
      );
    const lost = found.truncatedBytes + found.damagedBytes + found.damagedChunks + found.lostRows;
    return lost === 0 ? 0 : WITH_LOSS;
  },
};

const taken = (file: string): TeleopError =>
  new TeleopError('file-unwritable', `${file} exists already`, {
    hint: 'Move it away, or name another with --output FILE.',
  });

function sizeOf(file: string): number {
  new McapFile(file).close();
  return statSync(file).size;
}
