import { homedir } from 'node:os';
import path from 'node:path';

/** FARHAND_STATE, or farhand in the user's state folder. */
export function stateFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env['FARHAND_STATE']) return path.resolve(env['FARHAND_STATE']);
  const state = env['XDG_STATE_HOME'];
  const base = state && path.isAbsolute(state) ? state : path.join(homedir(), '.local', 'state');
  return path.join(base, 'farhand');
}
