import type { Telemetry } from '../../src/messages/telemetry.ts';

/** What the 3D scene shows: live from telemetry, or from a recording. */
export type SceneState = Pick<Telemetry, 'robot' | 'hand' | 'commandedRad' | 'world' | 'arms'> & {
  input: Pick<Telemetry['input'], 'clutch'>;
  operator: Pick<Telemetry['operator'], 'limitTowards'>;
};
