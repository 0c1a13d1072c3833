import { TeleopError } from '../core/errors.ts';
import { cardOf } from '../publish/card.ts';
import { openPlace } from '../publish/place.ts';
import { type Pulled, pullDataset } from '../publish/pull.ts';
import { type Pushed, pushDataset } from '../publish/push.ts';
import { checkDataset } from '../record/lerobot/check.ts';
import { problemText } from '../record/lerobot/problems.ts';
import type { Given } from './arguments.ts';
import { progressLine } from './progress.ts';

export const PUBLISH_ACTIONS = ['push', 'pull', 'card'] as const;
export type PublishAction = (typeof PUBLISH_ACTIONS)[number];

/** `dataset push DIR PLACE`, `dataset pull PLACE DIR`, `dataset card DIR`. */
export async function runPublish(
  action: PublishAction,
  words: readonly string[],
  given: Given,
): Promise<number> {
  const [from, to, extra] = words;
  if (action === 'card' && from !== undefined && to === undefined) return printCard(from, given);
  if (action === 'card' || from === undefined || to === undefined || extra !== undefined)
    throw new TeleopError('bad-option', `dataset ${action} needs ${USAGE[action]}`, {
      hint: `For example \`farhand dataset ${EXAMPLE[action]}\`.`,
    });
  const json = given.values['json'] === true;
  if (action === 'push') return push(from, to, given, json);
  return pull(from, to, given, json);
}

const USAGE = { push: 'DIR and PLACE', pull: 'PLACE and DIR', card: 'one DIR' };
const EXAMPLE = {
  push: 'push datasets/cups hf://me/cups',
  pull: 'pull hf://me/cups datasets/cups',
  card: 'card datasets/cups',
};

const textOf = (given: Given, name: string): string | undefined =>
  typeof given.values[name] === 'string' ? given.values[name] : undefined;

function placeOf(address: string, given: Given) {
  const endpoint = textOf(given, 'endpoint');
  return openPlace(address, process.env, {
    ...(endpoint !== undefined && { endpoint }),
    isPublic: given.values['public'] === true,
  });
}

async function push(dir: string, place: string, given: Given, json: boolean): Promise<number> {
  const license = textOf(given, 'license');
  const bar = progressLine(`sending ${dir}`);
  const pushed = await pushDataset(dir, await placeOf(place, given), {
    ...(license !== undefined && { license }),
    progress: bar.update,
  });
  bar.done();
  console.log(json ? JSON.stringify(pushed) : pushedText(pushed));
  return 0;
}

const pushedText = ({ where, files, sentFiles, sentBytes, removedFiles }: Pushed): string =>
  sentFiles + removedFiles === 0
    ? `${where}: ${files} files, up to date`
    : `${where}: ${files} files, ${sentFiles} sent (${megabytes(sentBytes)})${removedFiles > 0 ? `, ${removedFiles} removed` : ''}, verified`;

async function pull(place: string, dir: string, given: Given, json: boolean): Promise<number> {
  const bar = progressLine(`fetching ${place}`);
  const pulled = await pullDataset(await placeOf(place, given), dir, bar.update);
  bar.done();
  console.log(json ? JSON.stringify(pulled) : pulledText(pulled));
  return pulled.problems.length > 0 ? 1 : 0;
}

const pulledText = ({ dir, files, fetchedBytes, episodes, rows, problems }: Pulled): string =>
  [
    `${dir}: ${episodes} episodes, ${rows} rows, ${files} files, ${megabytes(fetchedBytes)} fetched, verified`,
    ...problems,
    ...(problems.length > 0 ? [`${problems.length} violations: it was published like this`] : []),
  ].join('\n');

async function printCard(dir: string, given: Given): Promise<number> {
  const checked = await checkDataset(dir, 'sample');
  if (checked.info === null)
    throw new TeleopError('bad-dataset', `${dir}: ${checked.problems.list.map(problemText).join('; ')}`, {
      hint: 'Give the folder of a LeRobot v3 dataset, the one that contains meta/info.json.',
    });
  process.stdout.write(cardOf(checked, textOf(given, 'license')));
  return 0;
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
