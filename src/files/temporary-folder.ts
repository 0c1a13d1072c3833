import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface TemporaryFolder {
  path: string;
  remove(): void;
}

const folders = new Set<string>();
/** One listener for all of them: a process may make and remove thousands. */
let isWatching = false;

/**
 * An empty folder for this process alone. Removed at the latest when the process exits, unless it is killed.
 */
export function temporaryFolder(purpose: string): TemporaryFolder {
  const folder = mkdtempSync(path.join(tmpdir(), `farhand-${purpose}-`));
  if (!isWatching) process.once('exit', removeAll);
  isWatching = true;
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
