import { readdirSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';
import { packageRoot } from './package-root.ts';
import { readBounded } from './read-bounded.ts';

/** Names of the YAML files that ship in a folder of the package. */
export function yamlNames(folder: string): string[] {
  const files = readdirSync(path.join(packageRoot, folder)).filter((file) => file.endsWith('.yaml'));
  return files.map((file) => file.slice(0, -'.yaml'.length)).sort();
}

/** Path of one of them; `kind` is its name in error messages. */
export function namedFile(folder: string, kind: string, name: string): string {
  const names = yamlNames(folder);
  if (names.includes(name)) return path.join(packageRoot, folder, `${name}.yaml`);
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
