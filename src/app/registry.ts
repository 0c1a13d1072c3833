import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { z } from 'zod';
import type { CameraConfig } from '../camera/config.ts';
import type { CameraSource, SourceHost, SourcePlugin } from '../camera/source.ts';
import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';
import { PACKAGE_PREFIXES, pluginPackages } from '../files/plugin-packages.ts';
import type { InputPlugin } from '../input/device.ts';
import type { DriverPlugin } from '../robot/driver.ts';
import type { GripperPlugin } from '../robot/gripper.ts';
import { loadForeign } from './foreign-plugin.ts';

interface Kinds {
  driver: DriverPlugin<unknown>;
  gripper: GripperPlugin<unknown>;
  input: InputPlugin<unknown>;
  camera: SourcePlugin<unknown>;
}

const FOLDERS: Record<keyof Kinds, string> = {
  driver: '../robot/drivers',
  gripper: '../robot/grippers',
  input: '../input/devices',
  camera: '../camera/sources',
};
const here = path.dirname(fileURLToPath(import.meta.url));

/**
 * The plug-ins of a kind: every `<name>.ts` or `<name>/index.ts` in its folder, and those outside Farhand. There is no
 * list to edit.
 */
export const pluginNames = (kind: keyof Kinds): string[] =>
  [...new Set([...ownPluginNames(kind), ...pluginPackages(kind).keys()])].sort();

/** Those that ship with Farhand. */
export const ownPluginNames = (kind: keyof Kinds): string[] => [...pluginFiles(kind).keys()].sort();

function pluginFiles(kind: keyof Kinds): Map<string, string> {
  const folder = path.join(here, FOLDERS[kind]);
  const files = new Map<string, string>();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const [, name, ending] = /^([a-z0-9-]+)(\.js)?$/.exec(entry.name) ?? [];
    if (name === undefined) continue;
    const file = path.join(folder, ending === undefined ? `${name}/index.js` : entry.name);
    if (existsSync(file)) files.set(name, file);
  }
  return files;
}

export async function loadPlugin<K extends keyof Kinds>(kind: K, name: string): Promise<Kinds[K]> {
  const file = pluginFiles(kind).get(name);
  const outside = file === undefined ? pluginPackages(kind).get(name) : undefined;
  if (outside !== undefined) return (await loadForeign(kind, outside)) as Kinds[K];
  if (file === undefined) {
    const names = pluginNames(kind);
    const near = closest(name, names);
    throw new TeleopError('unknown-plugin', `there is no ${kind} named "${name}"`, {
      hint: `${near ? `Did you mean "${near}"? ` : ''}Available: ${names.join(', ')}. Others are packages: npm install ${PACKAGE_PREFIXES[kind]}${name}.`,
    });
  }
  const module = (await import(pathToFileURL(file).href)) as { default: Kinds[K] };
  return module.default;
}

/** Opens a camera's source by name, with its settings checked. */
export async function openCameraSource(config: CameraConfig, host: SourceHost): Promise<CameraSource> {
  const plugin = await loadPlugin('camera', config.source);
  return plugin.open(pluginConfig('camera', config.source, plugin, config.options), config, host);
}

/** A plug-in's own settings, checked against its schema. */
export function pluginConfig(
  kind: keyof Kinds,
  name: string,
  plugin: { config: z.ZodType },
  values: unknown,
): unknown {
  const parsed = plugin.config.safeParse(values ?? {});
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new TeleopError(
    'bad-config',
    `settings of ${kind} "${name}": ${[...issue.path, issue.message].join(': ')}`,
    {
      hint: `See \`farhand plugins ${kind} ${name}\` for its settings.`,
    },
  );
}
