import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';
import { packageRoot } from './package-root.ts';

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
  try {
    return parse(readFileSync(file, 'utf8')) ?? {};
  } catch (cause) {
    throw new TeleopError('file-unreadable', `${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'Check the YAML at the line named above.',
      cause,
    });
  }
}
