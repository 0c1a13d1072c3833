import type { Rig } from '../rig.ts';
import type { FrameSource } from './observation.ts';

export interface PolicyFrames {
  cameras: string[];
  frames: FrameSource;
  close(): void;
}

/** The cameras of a rig, as a policy sees them. */
export async function openPolicyFrames(_rig: Rig): Promise<PolicyFrames> {
  return { cameras: [], frames: { newest: () => null }, close: () => {} };
}
