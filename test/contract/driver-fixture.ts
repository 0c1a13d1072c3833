import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import { packageRoot } from '../../src/files/package-root.ts';
import { type RobotModel, robotModelSchema } from '../../src/geometry/robot-model.ts';
import { loadModel } from '../../src/rig/robot-models.ts';

/**
 * How the contract suite runs a driver with hardware: `driver-fixtures/<driver>.ts`, default export. Such a
 * driver is tested in real time, against a device restarted for each test.
 */
export interface DriverFixture {
  /** A model in robots/, or the path of a YAML file below the package root. */
  readonly model: string;
  /** Settings for tests that open nothing. */
  readonly options?: Record<string, unknown>;
  /** Why it cannot run here; absent or empty if it can. */
  readonly skip?: string;
  /** How far a joint may sag when recovering from a stop, if the hardware cuts its power for that. */
  readonly recoverySagRad?: number;
  /** How close to a still target the controller comes; default 0.01. */
  readonly toleranceRad?: number;
  /** How many tests may run at once, each on its own device; default 1. */
  readonly atOnce?: number;
  start(): Promise<RunningDevice>;
}

export interface RunningDevice {
  /** Settings that open the driver against it. */
  readonly options: Record<string, unknown>;
  /** Kills the peer abruptly: no leave message, no clean shutdown. */
  kill(): void;
  stop(): Promise<void>;
}

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), 'driver-fixtures');

/** The fixture of a driver; null for one that needs no hardware. */
export async function loadFixture(driver: string): Promise<DriverFixture | null> {
  const file = path.join(folder, `${driver}.js`);
  if (!existsSync(file)) return null;
  const module = (await import(pathToFileURL(file).href)) as { default: DriverFixture };
  return module.default;
}

export function fixtureModel(model: string): RobotModel {
  if (!model.includes('/')) return loadModel(model);
  return robotModelSchema.parse(parse(readFileSync(path.join(packageRoot, model), 'utf8')));
}
