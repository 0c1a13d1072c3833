import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../../src/files/package-root.ts';
import { absent } from '../../needs.ts';

const SOURCE = path.join(packageRoot, 'test', 'e2e', 'dds-peer');
const TARGET = path.join(packageRoot, 'artifacts', 'dds-peer');

export type BuiltPeer = { file: string; missing: false } | { file: ''; missing: string };

const source = (name: string): string => path.join(SOURCE, name);

export const PEERS = {
  CycloneDDS: {
    file: 'peer',
    sources: ['peer.c', 'messages.idl'],
    steps: [
      ['idlc', '-l', 'c', source('messages.idl')],
      ['gcc', '-O1', '-I.', '-o', 'peer', source('peer.c'), 'messages.c', '-lddsc'],
    ],
    packages: 'cyclonedds-dev cyclonedds-tools gcc',
  },
  'Fast DDS': {
    file: 'fast-peer',
    sources: ['fast-peer.cpp'],
    steps: [['g++', '-O1', '-o', 'fast-peer', source('fast-peer.cpp'), '-lfastrtps', '-lfastcdr']],
    packages: 'libfastrtps-dev libfastcdr-dev g++',
  },
} as const;

/** Drives a hand; the others play its node. */
const COMMANDERS = {
  'CycloneDDS commander': {
    file: 'commander',
    sources: ['commander.c', 'messages.idl'],
    steps: [
      ['idlc', '-l', 'c', source('messages.idl')],
      ['gcc', '-O1', '-I.', '-o', 'commander', source('commander.c'), 'messages.c', '-lddsc', '-lm'],
    ],
    packages: 'cyclonedds-dev cyclonedds-tools gcc',
  },
} as const;

/**
 * Builds a peer if its compiler, library and headers are installed; otherwise reports what is missing. An
 * interrupted or a parallel build leaves no half-written program.
 */
export function buildPeer(name: keyof typeof PEERS | keyof typeof COMMANDERS): BuiltPeer {
  const peer = { ...PEERS, ...COMMANDERS }[name];
  const file = path.join(TARGET, peer.file);
  const isOld = (of: string) => statSync(source(of)).mtimeMs >= statSync(file).mtimeMs;
  if (existsSync(file) && !peer.sources.some(isOld)) return { file, missing: false };
  mkdirSync(TARGET, { recursive: true });
  const missing = (why: string): BuiltPeer => ({
    file: '',
    missing: absent(name, `apt-get install ${peer.packages} (${why})`, true),
  });
  const cwd = mkdtempSync(path.join(TARGET, 'build-'));
  try {
    for (const [command, ...args] of peer.steps) {
      const { status, error, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
      if (error !== undefined) return missing(`no ${command}`);
      if (status !== 0) return missing(`${command}: ${stderr.split('\n')[0]}`);
    }
    renameSync(path.join(cwd, peer.file), file);
    return { file, missing: false };
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
