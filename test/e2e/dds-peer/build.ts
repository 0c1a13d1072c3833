import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../../src/app/paths.ts';

const SOURCE = path.join(packageRoot, 'test', 'e2e', 'dds-peer');
const TARGET = path.join(packageRoot, 'artifacts', 'dds-peer');

export type BuiltPeer = { file: string } | { missing: string };

/** Builds the CycloneDDS peer where its compiler, library and headers are; otherwise says what is missing. */
export function buildCyclonePeer(): BuiltPeer {
  const file = path.join(TARGET, 'peer');
  const sources = ['peer.c', 'messages.idl'].map((name) => path.join(SOURCE, name));
  if (existsSync(file) && sources.every((source) => statSync(source).mtimeMs < statSync(file).mtimeMs))
    return { file };
  mkdirSync(TARGET, { recursive: true });
  const hint = 'Debian: apt-get install cyclonedds-dev cyclonedds-tools gcc';
  for (const [command, ...args] of [
    ['idlc', '-l', 'c', path.join(SOURCE, 'messages.idl')],
    ['gcc', '-O1', '-I.', '-o', 'peer', path.join(SOURCE, 'peer.c'), 'messages.c', '-lddsc'],
  ] as const) {
    const { status, error, stderr } = spawnSync(command, args, { cwd: TARGET, encoding: 'utf8' });
    if (error !== undefined) return { missing: `${command} is not installed. ${hint}` };
    if (status !== 0) return { missing: `${command} failed: ${stderr.split('\n')[0]}. ${hint}` };
  }
  return { file };
}
