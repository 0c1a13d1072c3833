import { existsSync } from 'node:fs';
import { isAbandoned } from '../app/leftovers.ts';
import { TeleopError } from '../core/errors.ts';
import { packageVersion } from '../files/package-root.ts';
import { McapFile } from '../record/mcap/index-reader.ts';
import { finishEpisode, type RecoveredEpisode, recoverEpisode, recoveryPath } from '../record/recover.ts';
import { recoveryText } from '../record/recovery-text.ts';
import { PART_ENDING } from '../record/writer.ts';
import { expectWords, type Given, JSON_OPTION, type Verb } from './arguments.ts';

/** Recovered with loss. */
const WITH_LOSS = 3;

export const recoverVerb: Verb = {
  name: 'recover',
  usage: 'FILE [--output FILE]',
  about: 'Repairs a truncated or damaged recording: keeps all intact data, rebuilds indexes and summary.',
  details: `An incomplete X.mcap.part is finished in place and becomes X.mcap. X.mcap is kept; the repaired copy is
X.recovered.mcap. With --output, FILE is never changed. Works with any MCAP file with uncompressed chunks.
Exit code 0: no written data was lost; 3: recovered with loss.`,
  examples: [
    'farhand recover recordings/episode.mcap.part',
    'farhand recover broken.mcap --output fixed.mcap',
  ],
  options: {
    output: { type: 'string', value: 'FILE', about: 'where to write the recovered file' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(recoverVerb, given, 1, 1);
    const [file = ''] = given.words;
    const sizeBytes = sizeOf(file);
    const startedMs = performance.now();
    const found = await recover(file, given.values['output'] as string | undefined);
    const tookS = (performance.now() - startedMs) / 1000;
    const text = `${recoveryText(file, found)}\n${(sizeBytes / 1e6).toFixed(1)} MB read in ${tookS.toFixed(2)} s`;
    console.log(given.values['json'] === true ? JSON.stringify({ ...found, sizeBytes, tookS }) : text);
    const { truncatedBytes, unsearchedBytes, damagedBytes, damagedChunks, lostRows } = found;
    const lost = truncatedBytes + unsearchedBytes + damagedBytes + damagedChunks + lostRows;
    return lost === 0 ? 0 : WITH_LOSS;
  },
};

async function recover(file: string, output: string | undefined): Promise<RecoveredEpisode> {
  const into = output ?? recoveryPath(file);
  if (existsSync(into))
    throw new TeleopError('file-unwritable', `${into} already exists`, {
      hint: 'Move it away, or choose another file with --output FILE.',
    });
  if (output !== undefined || !file.endsWith(PART_ENDING))
    return recoverEpisode(file, into, packageVersion());
  if (!(await isAbandoned(file)))
    throw new TeleopError(
      'file-unwritable',
      `${file} is in use: a running process is writing it, or it changed less than a minute ago`,
      {
        hint: 'Stop the recording, or recover a copy of the data so far with --output FILE.',
      },
    );
  return finishEpisode(file, packageVersion());
}

function sizeOf(file: string): number {
  const opened = new McapFile(file);
  opened.close();
  return opened.sizeBytes;
}
