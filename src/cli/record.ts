import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';
import { askRecorder, type RecorderRequest, statusText } from '../desk/ask-recorder.ts';
import { packageVersion } from '../files/package-root.ts';
import type { RecorderStatus } from '../messages/recording.ts';
import { cutEpisode, deleteEpisode, restoreEpisode } from '../record/deleted.ts';
import { episodeFile, labelEpisode, listEpisodes, REFUSED_FOLDER } from '../record/episodes.ts';
import { episodeLine, episodeText } from '../record/quality-text.ts';
import { readInfo } from '../record/reader.ts';
import { loadRig, type Rig } from '../rig/rig.ts';
import { type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';

const ACTIONS = [
  'start',
  'stop',
  'discard',
  'mark',
  'task',
  'label',
  'delete',
  'trim',
  'restore',
  'status',
  'list',
] as const;
type Action = (typeof ACTIONS)[number];
const WITHIN_MS = 5000;
/** Number of arguments of each action. */
const WORDS: Record<Action, number> = {
  start: 0,
  stop: 0,
  discard: 0,
  mark: 1,
  task: 1,
  label: 2,
  delete: 1,
  trim: 1,
  restore: 1,
  status: 0,
  list: 0,
};

export const recordVerb: Verb = {
  name: 'record',
  usage:
    'start|stop|discard|mark TEXT|task TEXT|label EPISODE TEXT|delete EPISODE|trim EPISODE|restore EPISODE|status|list [--rig NAME|FILE] [key=value …]',
  about:
    'Records episodes: starts, stops or discards one in the operator on this machine; labels, trims, deletes and lists them.',
  details: `mark notes in the episode that a sub-task begins, as in "grasp the cup"; an empty text ends it.
task sets the task of the episodes that follow.
trim keeps what was recorded between --from and --to; delete moves the episode to the folder deleted/. restore undoes both:
the whole recording stays in deleted/ until you remove it there.
start, stop, discard, mark, task and status send requests to the running operator, as the page does. The others
work on the files in record.dir and need no operator. Between episodes the recorder is in reset: restore the scene.
Exit code 1: not confirmed. docs/recording.md describes the files.`,
  examples: [
    'farhand record start --task "stack the cubes"',
    'farhand record stop --label success',
    'farhand record list',
  ],
  options: {
    rig: RIG_OPTION,
    task: { type: 'string', value: 'TEXT', about: 'start: task description' },
    label: { type: 'string', value: 'TEXT', about: 'stop: outcome, such as success' },
    from: { type: 'string', value: 'S', about: 'trim: first second to keep (default: 0)' },
    to: { type: 'string', value: 'S', about: 'trim: last second to keep (default: the end)' },
    refused: { type: 'boolean', about: 'list: episodes that exceeded the limits' },
    within: {
      type: 'string',
      value: 'MS',
      about: `how long to wait for the operator (default: ${WITHIN_MS})`,
    },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    const [word = '', ...words] = given.words;
    const action = actionOf(word);
    if (words.length !== WORDS[action])
      throw new TeleopError(
        'bad-option',
        `record ${action} takes ${WORDS[action]} arguments, not ${words.length}`,
        {
          hint: 'See `farhand record --help`.',
        },
      );
    const { config } = loadRig(String(given.values['rig'] ?? 'demo'), given.overrides);
    if (action === 'list') return list(given, config);
    if (action === 'label') return label(given, config, words as [string, string]);
    if (action === 'delete' || action === 'trim' || action === 'restore')
      return edit(given, config, action, words[0]!);
    return ask(given, config, questionOf(action, given, words));
  },
};

function actionOf(word: string): Action {
  const action = ACTIONS.find((name) => name === word);
  if (action !== undefined) return action;
  const near = closest(word, ACTIONS);
  throw new TeleopError(
    'bad-option',
    word === '' ? 'record needs an action' : `record has no action "${word}"`,
    {
      hint: near ? `Did you mean ${near}?` : `Use one of ${ACTIONS.join(', ')}.`,
    },
  );
}

function questionOf(
  action: Exclude<Action, 'list' | 'label' | 'delete' | 'trim' | 'restore'>,
  { values }: Given,
  [text = '']: string[],
): RecorderRequest {
  const kind = 'record';
  const optional = (name: string) => (values[name] === undefined ? {} : { [name]: String(values[name]) });
  if (action === 'start') return { kind, action, ...optional('task') };
  if (action === 'stop') return { kind, action, ...optional('label') };
  if (action === 'mark') return { kind, action, subtask: text };
  if (action === 'task') return { kind, action, task: text };
  return action === 'status' ? { action } : { kind, action };
}

async function ask(given: Given, rig: Rig, question: RecorderRequest): Promise<number> {
  const withinMs = numberOption(given, 'within', 50, 60_000) ?? WITHIN_MS;
  const status = await askRecorder(rig, question, withinMs);
  if (given.values['json'] === true) console.log(JSON.stringify(status));
  else console.log([statusText(status), await savedText(rig, question, status)].filter(Boolean).join('\n'));
  return 0;
}

/** Empty if the operator runs in another folder and the file is not here; the operator prints the summary too. */
async function savedText(
  rig: Rig,
  { action }: RecorderRequest,
  { episode }: RecorderStatus,
): Promise<string> {
  if (action !== 'stop' || episode === null) return '';
  try {
    const file = episodeFile(rig.record.dir, episode);
    return episodeText(await readInfo(file), file);
  } catch (error) {
    if (!(error instanceof TeleopError)) throw error;
    return '';
  }
}

async function label(given: Given, rig: Rig, [id, text]: [string, string]): Promise<number> {
  const file = episodeFile(rig.record.dir, id);
  await labelEpisode(file, { label: text });
  const info = await readInfo(file);
  console.log(given.values['json'] === true ? JSON.stringify(info) : episodeLine(info));
  return 0;
}

async function edit(
  given: Given,
  { record: { dir } }: Rig,
  action: 'delete' | 'trim' | 'restore',
  id: string,
): Promise<number> {
  if (action === 'trim') {
    const [fromS, toS] = ['from', 'to'].map((name) => numberOption(given, name, 0, 86_400));
    cutEpisode(dir, id, fromS ?? 0, toS ?? Number.POSITIVE_INFINITY, packageVersion());
  } else if (action === 'delete') deleteEpisode(dir, id);
  else restoreEpisode(dir, id);
  const info = action === 'delete' ? null : await readInfo(episodeFile(dir, id));
  if (given.values['json'] === true) console.log(JSON.stringify(info));
  else console.log(info === null ? `deleted; \`farhand record restore ${id}\` undoes it` : episodeLine(info));
  return 0;
}

async function list(given: Given, rig: Rig): Promise<number> {
  const { dir } = rig.record;
  const episodes = await listEpisodes(
    given.values['refused'] === true ? path.join(dir, REFUSED_FOLDER) : dir,
  );
  if (given.values['json'] === true) console.log(JSON.stringify(episodes));
  else if (episodes.length === 0) console.log(`no episodes in ${dir}`);
  else for (const info of episodes) console.log(episodeLine(info));
  return 0;
}
