import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';
import { packageRoot } from './package-root.ts';
import { pluginPackages } from './plugin-packages.ts';
import { readBounded } from './read-bounded.ts';

/** What a robot's plug-in contains besides its driver: its own file for one of Farhand's folders. */
const IN_PLUGINS: Record<string, string> = { rigs: 'rig.yaml', robots: 'robot.yaml' };

/** Names of the YAML files in a folder of the package, and of those that plug-ins add to it. */
export const yamlNames = (folder: string): string[] => [...yamlFiles(folder).keys()].sort();

function yamlFiles(folder: string): Map<string, string> {
  const files = new Map<string, string>();
  const own = IN_PLUGINS[folder];
  for (const [name, where] of own === undefined ? [] : pluginPackages('driver')) {
    const file = path.join(where, own!);
    if (existsSync(file)) files.set(name, file);
  }
  for (const file of readdirSync(path.join(packageRoot, folder)))
    if (file.endsWith('.yaml')) files.set(path.basename(file, '.yaml'), path.join(packageRoot, folder, file));
  return files;
}

/** Path of one of them; `kind` is its name in error messages. */
export function namedFile(folder: string, kind: string, name: string): string {
  const files = yamlFiles(folder);
  const file = files.get(name);
  if (file !== undefined) return file;
  const names = [...files.keys()].sort();
  const near = closest(name, names);
  throw new TeleopError('file-missing', `there is no ${kind} named "${name}"`, {
    hint: `${near ? `Did you mean "${near}"? ` : ''}Available: ${names.join(', ')}.`,
  });
}

export function readYaml(file: string): unknown {
  const attempt = <T>(operation: () => T, hint: string): T => {
    try {
      return operation();
    } catch (cause) {
      const message = `${file} cannot be read: ${(cause as Error).message}`;
      throw new TeleopError('file-unreadable', message, { hint, cause });
    }
  };
  const { bytes } = attempt(
    () => readBounded(file),
    'Name a regular file of YAML that this user may read (`ls -l` shows its kind and owner).',
  );
  return attempt(() => parse(bytes.toString()) ?? {}, 'Check the YAML at the line named above.');
}
