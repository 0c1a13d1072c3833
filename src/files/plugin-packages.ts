import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from './package-root.ts';

/** How the name of a plug-in's package begins. */
export const PACKAGE_PREFIXES = {
  driver: 'farhand-robot-',
  gripper: 'farhand-gripper-',
  input: 'farhand-input-',
  camera: 'farhand-camera-',
} as const;

export type PluginKind = keyof typeof PACKAGE_PREFIXES;

/** Folder for plug-ins that are not installed as packages, in the working directory. */
export const PLUGIN_FOLDER = 'plugins';

/**
 * Folders of the plug-ins outside Farhand, by name. The nearest wins: `plugins/` in the working directory, then
 * `node_modules/` there and above, then beside Farhand itself.
 */
export function pluginPackages(kind: PluginKind, workingDirectory = process.cwd()): Map<string, string> {
  const prefix = PACKAGE_PREFIXES[kind];
  const found = new Map<string, string>();
  for (const folder of searchFolders(workingDirectory))
    for (const entry of existsSync(folder) ? readdirSync(folder) : []) {
      const name = entry.startsWith(prefix) ? entry.slice(prefix.length) : '';
      if (/^[a-z0-9][a-z0-9-]*$/.test(name) && !found.has(name)) found.set(name, path.join(folder, entry));
    }
  return found;
}

function searchFolders(workingDirectory: string): string[] {
  const folders = [path.join(workingDirectory, PLUGIN_FOLDER)];
  for (let here = workingDirectory; ; here = path.dirname(here)) {
    folders.push(path.join(here, 'node_modules'));
    if (here === path.dirname(here)) break;
  }
  const beside = path.dirname(packageRoot);
  return path.basename(beside) === 'node_modules' ? [...folders, beside] : folders;
}
