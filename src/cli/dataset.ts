import { existsSync } from 'node:fs';
import { TeleopError } from '../core/errors.ts';
import { restoreInterrupted } from '../record/edit/swap.ts';
import { type CheckedDataset, checkDataset } from '../record/lerobot/check.ts';
import { videoKeysOf } from '../record/lerobot/layout.ts';
import { problemText } from '../record/lerobot/problems.ts';
import { type Given, JSON_OPTION, type Verb } from './arguments.ts';
import { EDITS, runEdit } from './dataset-edit.ts';
import { PUBLISH_ACTIONS, runPublish } from './dataset-publish.ts';
import { runScore } from './dataset-score.ts';

export const datasetVerb: Verb = {
  name: 'dataset',
  usage: 'check|info|score|delete|trim|split|merge|relabel|stats|card|push|pull DIR … [name=EPISODES …]',
  about: 'Inspects, edits and publishes any LeRobot v3 dataset.',
  details: `info prints what it contains, score the figures of every episode with outliers marked.
check exits with 1 if a rule is violated, and names the file and row. It decodes a sample of the pictures; --decode, all.
delete removes --episodes; trim keeps --from … --to seconds of one; relabel gives --episodes (or all) another --task; stats
computes the statistics again. They change the dataset in place, or write to --out. split writes DIR-name for every
name=EPISODES and merge joins several datasets in --out. Pictures are copied without encoding wherever a cut falls on a key
picture; trim moves its start back by at most two pictures for that, unless --exact is given. A crash leaves the old
dataset or the new one.
push DIR PLACE makes PLACE equal to the dataset, pull PLACE DIR fetches it into a new folder, card prints the description
that push adds as README.md. PLACE is hf://OWNER/NAME[@BRANCH] (HF_TOKEN, HF_ENDPOINT) or s3://BUCKET/FOLDER
(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION). Both continue where they were interrupted and verify every file.`,
  examples: [
    'farhand dataset check wave',
    'farhand dataset delete wave --episodes 0,3-5',
    'farhand dataset split wave train=0-7 test=8-9',
    'farhand dataset push wave hf://OWNER/wave',
  ],
  options: {
    decode: { type: 'boolean', about: 'check: decode every picture, not only a sample' },
    episodes: { type: 'string', value: 'LIST', about: 'delete, trim, relabel: episodes, for example 0,3-5' },
    from: { type: 'string', value: 'S', about: 'trim: first second that is kept' },
    to: { type: 'string', value: 'S', about: 'trim: where it ends' },
    exact: { type: 'boolean', about: 'trim: start exactly there, encoding again if necessary' },
    task: { type: 'string', value: 'TEXT', about: 'relabel: the new task' },
    out: { type: 'string', value: 'DIR', about: 'write a new dataset there instead of changing this one' },
    public: { type: 'boolean', about: 'push: a new dataset on a hub is public; otherwise private' },
    license: {
      type: 'string',
      value: 'NAME',
      about: 'push, card: licence named in the card, e.g. apache-2.0',
    },
    endpoint: { type: 'string', value: 'URL', about: 'push, pull: another hub or S3 server' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    const [action, ...dirs] = given.words;
    const edit = EDITS.find((each) => each === action);
    if (edit !== undefined) return runEdit(edit, dirs, given);
    const publish = PUBLISH_ACTIONS.find((each) => each === action);
    if (publish !== undefined) return runPublish(publish, dirs, given);
    const [dir, extra] = dirs;
    if (action === 'score' && dir !== undefined && extra === undefined)
      return runScore(dir, given.values['json'] === true);
    if ((action !== 'check' && action !== 'info') || dir === undefined || extra !== undefined)
      throw new TeleopError('bad-option', 'dataset needs check, info, score or an edit, and a DIR', {
        hint: 'For example `farhand dataset check datasets/cups`.',
      });
    const decode = action === 'info' ? 'none' : given.values['decode'] === true ? 'all' : 'sample';
    restoreInterrupted(dir);
    if (!existsSync(dir))
      throw new TeleopError('file-missing', `there is no folder ${dir}`, {
        hint: 'Give the folder of a LeRobot v3 dataset, the one that contains meta/info.json.',
      });
    const checked = await checkDataset(dir, decode);
    if (checked.info === null && action === 'info')
      throw new TeleopError('bad-dataset', `${dir}: ${checked.problems.list.map(problemText).join('; ')}`, {
        hint: 'Give the folder of a LeRobot v3 dataset, the one that contains meta/info.json.',
      });
    const { problems } = checked;
    const summary = summaryOf(checked);
    if (given.values['json'] === true)
      console.log(
        JSON.stringify({
          ...summary,
          problems: problems.list,
          unreported: problems.unreported,
          broken: problems.total,
          pictures: checked.pictures,
        }),
      );
    else if (action === 'info') console.log(infoText(summary));
    else console.log(checkText(dir, checked));
    return action === 'check' && problems.total > 0 ? 1 : 0;
  },
};

function summaryOf({ info, episodes, tasks }: CheckedDataset) {
  return {
    version: info?.codebase_version ?? null,
    robot: info?.robot_type ?? null,
    fps: info?.fps ?? null,
    episodes: episodes.map(({ episode, length, tasks: names }) => ({ episode, rows: length, tasks: names })),
    rows: episodes.reduce((sum, { length }) => sum + length, 0),
    tasks,
    cameras: videoKeysOf(info?.features ?? {}).map((key) => ({ key, shape: info!.features[key]!.shape })),
    features: Object.entries(info?.features ?? {}).map(([key, { dtype, shape }]) => ({ key, dtype, shape })),
  };
}

type Summary = ReturnType<typeof summaryOf>;

function infoText({ version, robot, fps, episodes, rows, tasks, features }: Summary): string {
  const lines = [
    `LeRobot ${version}, robot ${robot ?? 'unknown'}, ${fps} rows per second`,
    `${episodes.length} episodes, ${rows} rows, ${((fps ?? 0) > 0 ? rows / fps! : 0).toFixed(1)} s`,
    ...tasks.map((task, i) => `task ${i}: ${task}`),
    '',
    ...features.map(({ key, dtype, shape }) => `${key.padEnd(44)} ${dtype.padEnd(8)} ${shape.join(' × ')}`),
  ];
  return lines.join('\n');
}

function checkText(dir: string, { problems, episodes, pictures }: CheckedDataset): string {
  const { decoded, total, skipped } = pictures;
  const seen = skipped === '' ? `${decoded} of ${total} pictures decoded` : `no picture decoded: ${skipped}`;
  if (problems.total === 0)
    return `${dir}: ${episodes.length} episodes, ${total === 0 ? 'no pictures' : seen}, no violations`;
  const more = problems.unreported.map(({ rule, file, count }) => `${rule}: ${file}: ${count} more`);
  return [
    ...problems.list.map(problemText),
    ...more,
    problems.total === 1 ? '1 violation' : `${problems.total} violations`,
  ].join('\n');
}
