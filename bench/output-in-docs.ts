import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { OptionSpec } from '../src/cli/arguments.ts';
import { packageRoot } from '../src/files/package-root.ts';

export const WRITE_DOCS = 'write-docs';
export const writeDocsOption = (file: string): OptionSpec => ({
  type: 'boolean',
  about: `write the table to ${file}`,
});

/** Writes `text` between the marks of `command` in a documentation page. */
export function writeOutput(file: string, command: string, text: string): void {
  const whole = path.join(packageRoot, file);
  writeFileSync(whole, withOutput(readFileSync(whole, 'utf8'), command, text));
}

export function withOutput(page: string, command: string, text: string): string {
  const begin = `<!-- begin output: ${command} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf('<!-- end output -->', from);
  if (from < 0 || to < 0) throw new Error(`the page has lost the marks of the output of ${command}`);
  return `${page.slice(0, from + begin.length)}\n${text.trim()}\n${page.slice(to)}`;
}
