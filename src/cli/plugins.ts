import { z } from 'zod';
import { loadPlugin, pluginNames } from '../app/registry.ts';
import { TeleopError } from '../core/errors.ts';
import { modelNames } from '../rig/robot-models.ts';
import { type Given, JSON_OPTION, type Verb } from './arguments.ts';
import { newPlugin } from './plugins-new.ts';
import { testPlugin } from './plugins-test.ts';

const KINDS = ['driver', 'gripper', 'input', 'camera'] as const;
type Kind = (typeof KINDS)[number];

export const pluginsVerb: Verb = {
  name: 'plugins',
  usage: '[driver|gripper|input|camera NAME | new KIND NAME | test FOLDER]',
  about:
    'Lists robot models, drivers, grippers, input devices and camera sources; with a name, the settings of that one.',
  details: `Plug-ins outside Farhand are packages (farhand-robot-NAME, farhand-gripper-NAME, farhand-input-NAME,
farhand-camera-NAME), installed by npm or in the folder plugins/ of the working directory. docs/library.md

new writes an example that works, as plugins/farhand-robot-my-arm; test runs its tests, the contract that every plug-in of its
kind keeps. Then \`farhand demo rig=my-arm\` drives it.`,
  examples: [
    'farhand plugins',
    'farhand plugins input rctp',
    'farhand plugins new robot my-arm',
    'farhand plugins test plugins/farhand-robot-my-arm',
  ],
  options: { json: JSON_OPTION },
  async run(given: Given) {
    const [kind, name, third] = given.words;
    const json = given.values['json'] === true;
    if (kind === 'test' && name !== undefined) return testPlugin(name);
    if (kind === 'new') made(newPlugin(name ?? '', third ?? ''));
    else if (kind === undefined) await list(json);
    else if (isKind(kind) && name !== undefined) await show(kind, name, json);
    else
      throw new TeleopError('bad-option', `there is no plug-in "${given.words.join(' ')}"`, {
        hint: 'Use `farhand plugins`, `farhand plugins driver sim` or `farhand plugins input scripted`.',
      });
    return 0;
  },
};

function made(folder: string): void {
  console.log(`${folder}: an example that works. Next:`);
  console.log(`  farhand plugins test ${folder}`);
  console.log(`  cat ${folder}/README.md`);
}

const isKind = (word: string): word is Kind => (KINDS as readonly string[]).includes(word);

async function list(json: boolean): Promise<void> {
  const rows: { kind: string; name: string; about: string }[] = modelNames().map((name) => ({
    kind: 'model',
    name,
    about: '',
  }));
  for (const kind of KINDS)
    for (const name of pluginNames(kind)) rows.push({ kind, name, about: await aboutOf(kind, name) });
  if (json) console.log(JSON.stringify(rows));
  else
    for (const row of rows) console.log(`${row.kind.padEnd(8)}${row.name.padEnd(16)}${row.about}`.trimEnd());
}

/** A broken plug-in does not hide the others. */
async function aboutOf(kind: Kind, name: string): Promise<string> {
  try {
    return (await loadPlugin(kind, name)).about;
  } catch (error) {
    if (error instanceof TeleopError) return error.message;
    throw error;
  }
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
    console.log(`  ${key.padEnd(20)}  ${(JSON.stringify(value) ?? '').padEnd(8)}  ${description ?? ''}`);
}
