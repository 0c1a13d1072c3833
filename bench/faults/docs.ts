import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../src/files/package-root.ts';
import type { Environment } from '../environment.ts';
import { cellsOf } from './text.ts';
import { type Outcome, verdictOf } from './try-fault.ts';

export const DOCS_FILE = 'docs/SAFETY.md';
const BEGIN = '<!-- fault matrix: written by `npm run bench -- faults --write-docs` -->';
const END = '<!-- end of the fault matrix -->';

/** Writes the table of a whole run between the two marks in docs/SAFETY.md. */
export function writeDocs(outcomes: readonly Outcome[], env: Environment, priority: number): void {
  const file = path.join(packageRoot, DOCS_FILE);
  const text = readFileSync(file, 'utf8');
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`${DOCS_FILE} has lost the marks of the fault matrix`);
  const head = text.slice(0, before + BEGIN.length);
  writeFileSync(file, `${head}\n\n${tableOf(outcomes, env, priority)}\n\n${text.slice(after)}`);
}

/** Names of the faults in the table in the docs. */
export function documentedFaults(text: string): string[] {
  const table = text.slice(text.indexOf(BEGIN), text.indexOf(END));
  return [...table.matchAll(/^\| `([\w.-]+)`/gm)].map((match) => match[1]!);
}

function tableOf(outcomes: readonly Outcome[], env: Environment, priority: number): string {
  const rows = outcomes.map((outcome) => {
    const { state, rest, limits, lost, message } = cellsOf(outcome);
    const cells = [`\`${outcome.name}\`: ${outcome.what}`, state, rest, limits, lost, message];
    return `| ${[...cells, resultOf(outcome)].map(cell).join(' | ')} |`;
  });
  return [
    `Run ${env.startedAt.slice(0, 10)} at commit ${commit()}, ${env.cpu}, ${env.cores} cores, ${env.kernel}, Node ${env.node}${priority > 0 ? `, control threads at real-time priority ${priority}` : ''}.`,
    '',
    '| fault | states after it | at rest after | velocity / acceleration / jerk of the targets, share of the limits | data lost | message | result |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

const resultOf = (outcome: Outcome): string => {
  const { notRun, complaints } = outcome;
  return [verdictOf(outcome), notRun, ...complaints].filter((text) => text !== '').join(': ');
};

const cell = (text: string): string => text.split('\n')[0]!.replaceAll('|', '\\|');

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: packageRoot,
      encoding: 'utf8',
    }).trim();
  } catch {
    return 'unknown';
  }
}
