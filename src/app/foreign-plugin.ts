import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import type { PluginKind } from '../files/plugin-packages.ts';
import { PLUGIN_API } from '../library/define.ts';
import { useOwnLibrary } from './own-library.ts';

const packageFile = z.object({ main: z.string().default('index.js') });
const MAX_PACKAGE_BYTES = 1 << 20;
const isFunction = z.custom<(...args: unknown[]) => unknown>((value) => typeof value === 'function');
const pluginShape = z.looseObject({
  about: z.string().min(1),
  config: z.custom<z.ZodType>((value) => typeof (value as z.ZodType | null)?.safeParse === 'function'),
  open: isFunction,
  farhand: z.object({ kind: z.string(), api: z.int() }),
});
const DEFINE = {
  driver: 'defineRobot',
  gripper: 'defineGripper',
  input: 'defineInput',
  camera: 'defineCamera',
};

/** Loads the plug-in of a package or local folder. It runs with all rights of this process. */
export async function loadForeign(kind: PluginKind, folder: string): Promise<unknown> {
  useOwnLibrary();
  const module = await imported(folder);
  const plugin = pluginShape.safeParse(module.default);
  if (!plugin.success || plugin.data.farhand.kind !== kind)
    throw badPlugin(folder, `its default export is no ${kind}`, {
      hint: `Export \`${DEFINE[kind]}({ about, config, open })\` as default; \`farhand plugins new\` makes an example.`,
    });
  const { api } = plugin.data.farhand;
  if (api !== PLUGIN_API)
    throw badPlugin(folder, `it is made for plug-in interface ${api}, and this is ${PLUGIN_API}`, {
      hint: api > PLUGIN_API ? 'Update Farhand.' : 'Update the plug-in.',
    });
  return module.default;
}

async function imported(folder: string): Promise<{ default?: unknown }> {
  try {
    return (await import(pathToFileURL(entryOf(folder)).href)) as { default?: unknown };
  } catch (cause) {
    if (cause instanceof TeleopError) throw cause;
    throw badPlugin(folder, `it cannot be loaded: ${(cause as Error).message}`, {
      hint: `Run \`npm install\` in its folder if it needs packages, and \`farhand plugins test ${folder}\`.`,
      cause,
    });
  }
}

/** Its module: `main` of its package.json. */
function entryOf(folder: string): string {
  const file = path.join(folder, 'package.json');
  const described = parseJson(readText(file), packageFile, MAX_PACKAGE_BYTES);
  if (typeof described !== 'string') return createRequire(file).resolve(`./${described.main}`);
  throw badPlugin(folder, 'its package.json is missing or not valid', {
    hint: 'Compare it with one that `farhand plugins new` makes.',
  });
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const badPlugin = (folder: string, what: string, options: { hint: string; cause?: unknown }): TeleopError =>
  new TeleopError('bad-plugin', `plug-in ${folder}: ${what}`, options);
