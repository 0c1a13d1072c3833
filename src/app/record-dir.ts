import { loadRig } from './rig.ts';

const DEFAULT_DIR = 'recordings';

interface Asked {
  values: Record<string, string | boolean | undefined>;
  overrides: readonly string[];
}

/** Where a rig keeps its recordings. */
export function recordDirOf({ values, overrides }: Asked): string {
  const { config } = loadRig(String(values['rig'] ?? 'demo'), overrides);
  return (config as { record?: { dir?: string } }).record?.dir ?? DEFAULT_DIR;
}
