import { z } from 'zod';
import { loadPlugin, pluginNames } from '../app/registry.ts';
import { TeleopError } from '../core/errors.ts';
import { modelNames } from '../rig/robot-models.ts';
import { type Given, JSON_OPTION, type Verb } from './arguments.ts';

const KINDS = ['driver', 'gripper', 'input', 'camera'] as const;
type Kind = (typeof KINDS)[number];

export const pluginsVerb: Verb = {
  name: 'plugins',
  usage: '[driver|gripper|input|camera NAME]',
  about:
    'Lists robot models, drivers, grippers, input devices and camera sources; with a name, the settings of that one.',
  options: { json: JSON_OPTION },
  async run(given: Given) {
    const [kind, name] = given.words;
    const json = given.values['json'] === true;
    if (kind === undefined) await list(json);
    else if (isKind(kind) && name !== undefined) await show(kind, name, json);
    else
      throw new TeleopError('bad-option', `there is no plug-in "${given.words.join(' ')}"`, {
        hint: 'Use `farhand plugins`, `farhand plugins driver sim` or `farhand plugins input scripted`.',
      });
    return 0;
  },
};

const isKind = (word: string): word is Kind => (KINDS as readonly string[]).includes(word);

async function list(json: boolean): Promise<void> {
  const rows: { kind: string; name: string; about: string }[] = modelNames().map((name) => ({
    kind: 'model',
    name,
    about: '',
  }));
  for (const kind of KINDS)
    for (const name of pluginNames(kind))
      rows.push({ kind, name, about: (await loadPlugin(kind, name)).about });
  if (json) console.log(JSON.stringify(rows));
  else
    for (const row of rows) console.log(`${row.kind.padEnd(8)}${row.name.padEnd(16)}${row.about}`.trimEnd());
}

async function show(kind: Kind, name: string, json: boolean): Promise<void> {
  const plugin = await loadPlugin(kind, name);
  const schema = z.toJSONSchema(plugin.config, { io: 'input' });
  if (json) {
    console.log(JSON.stringify(schema));
    return;
  }
  console.log(`${name}: ${plugin.about}`);
  const properties = (schema.properties ?? {}) as Record<string, { default?: unknown; description?: string }>;
  for (const [key, { default: value, description }] of Object.entries(properties))
    console.log(`  ${key.padEnd(22)}${JSON.stringify(value)?.padEnd(10) ?? ''}${description ?? ''}`);
}
