import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface TemporaryFolder {
  path: string;
  remove(): void;
}

const folders = new Set<string>();

/**
 * An empty folder for this process alone. Removed at the latest when the process exits, unless it is killed.
 */
export function temporaryFolder(purpose: string): TemporaryFolder {
  const folder = mkdtempSync(path.join(tmpdir(), `farhand-${purpose}-`));
  if (folders.size === 0) process.once('exit', removeAll);
  folders.add(folder);
  return { path: folder, remove: () => remove(folder) };
}

function removeAll(): void {
  for (const folder of folders) remove(folder);
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  folders.delete(folder);
}
