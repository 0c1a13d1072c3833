import { z } from 'zod';
import { checkSettings } from '../app/check-settings.ts';
import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';
import { loadRig, rigNames, rigSchema } from '../rig/rig.ts';
import { type Given, JSON_OPTION, RIG_OPTION, type Verb } from './arguments.ts';

export const configVerb: Verb = {
  name: 'config',
  usage: 'explain [KEY]|rigs|schema [--rig NAME|FILE] [key=value …]',
  about: 'Shows every setting with its value, where the value came from, and what it means.',
  details: `explain   all settings of a rig, with overrides applied; with KEY, those whose name begins with it
rigs      the rigs shipped with Farhand
schema    JSON Schema of a rig file, for editors`,
  examples: [
    'farhand config explain robot.playout',
    'farhand config explain --rig piper link',
    'farhand config rigs',
    'farhand config schema > rig.schema.json',
  ],
  options: { rig: RIG_OPTION, json: JSON_OPTION },
  async run(given: Given) {
    const action = given.words[0] ?? 'explain';
    if (action === 'rigs') console.log(rigNames().join('\n'));
    else if (action === 'schema')
      console.log(JSON.stringify(z.toJSONSchema(rigSchema, { io: 'input' }), null, 2));
    else if (action === 'explain') await explain(given);
    else
      throw new TeleopError('bad-option', `config has no action "${action}"`, {
        hint: 'Use explain, rigs or schema.',
      });
    return 0;
  },
};

type Entry = ReturnType<typeof loadRig>['entries'][number];

function chosen(entries: readonly Entry[], key: string | undefined): readonly Entry[] {
  if (key === undefined) return entries;
  const found = entries.filter((entry) => entry.key === key || entry.key.startsWith(`${key}.`));
  if (found.length > 0) return found;
  const near = closest(
    key,
    entries.map((entry) => entry.key),
  );
  throw new TeleopError('bad-option', `there is no setting "${key}"`, {
    hint: near ? `Did you mean ${near}?` : 'See `farhand config explain` for all settings.',
  });
}

async function explain(given: Given): Promise<void> {
  const rig = loadRig(String(given.values['rig'] ?? 'demo'), given.overrides);
  await checkSettings(rig.config, ['robot', 'operator']);
  const entries = chosen(rig.entries, given.words[1]);
  if (given.values['json'] === true) {
    console.log(JSON.stringify(entries));
    return;
  }
  const rows = entries.map(
    ({ key, value, source, about }) => [key, JSON.stringify(value) ?? '', source, about] as const,
  );
  const width = (column: 0 | 1 | 2) => Math.min(40, Math.max(...rows.map((row) => row[column].length))) + 2;
  for (const [key, value, source, about] of rows)
    console.log(
      `${key.padEnd(width(0))}${value.padEnd(width(1))}${source.padEnd(width(2))}${about}`.trimEnd(),
    );
}
