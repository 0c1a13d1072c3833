import { loadRig } from '../rig/rig.ts';

interface Arguments {
  values: Record<string, string | boolean | undefined>;
  overrides: readonly string[];
}

/** The recordings folder of the rig. */
export const recordDirOf = ({ values, overrides }: Arguments): string =>
  loadRig(String(values['rig'] ?? 'demo'), overrides).config.record.dir;
