import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ownPluginNames } from '../app/registry.ts';
import { TeleopError } from '../core/errors.ts';
import { packageRoot } from '../files/package-root.ts';
import { PACKAGE_PREFIXES, PLUGIN_FOLDER, type PluginKind } from '../files/plugin-packages.ts';
import { writeWhole } from '../files/write-whole.ts';

/** What people call the kinds; a robot's plug-in is a driver with its model and rig. */
const NEW_KINDS: Readonly<Record<string, PluginKind>> = {
  robot: 'driver',
  gripper: 'gripper',
  input: 'input',
  camera: 'camera',
};

/** Writes an example that works into `plugins/`; returns its folder. */
export function newPlugin(word: string, name: string): string {
  const kind = Object.hasOwn(NEW_KINDS, word) ? NEW_KINDS[word] : undefined;
  if (kind === undefined)
    throw new TeleopError('bad-option', `there is no kind of plug-in named "${word}"`, {
      hint: `Use one of ${Object.keys(NEW_KINDS).join(', ')}, for example \`farhand plugins new robot my-arm\`.`,
    });
  if (!/^[a-z][a-z0-9-]{0,40}$/.test(name) || ownPluginNames(kind).includes(name))
    throw new TeleopError('bad-option', `"${name}" cannot be the name of a new ${word}`, {
      hint: 'Use lower-case letters, digits and dashes, and no name that Farhand has (`farhand plugins`).',
    });
  const folder = path.join(PLUGIN_FOLDER, `${PACKAGE_PREFIXES[kind]}${name}`);
  if (existsSync(folder))
    throw new TeleopError('file-unwritable', `${folder} exists`, {
      hint: 'Choose another name, or delete it.',
    });
  const template = path.join(packageRoot, 'templates', word);
  for (const file of readdirSync(template)) {
    const text = readFileSync(path.join(template, file), 'utf8').replaceAll('NAME', name);
    writeWhole(path.join(folder, file), text, {
      mode: 0o644,
      folderMode: 0o755,
      hint: 'Use a folder that you may write.',
    });
  }
  return folder;
}
