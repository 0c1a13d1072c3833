import { loadRig } from '../rig/rig.ts';

interface Asked {
  values: Record<string, string | boolean | undefined>;
  overrides: readonly string[];
}

/** Where a rig keeps its recordings. */
export const recordDirOf = ({ values, overrides }: Asked): string =>
  loadRig(String(values['rig'] ?? 'demo'), overrides).config.record.dir;
