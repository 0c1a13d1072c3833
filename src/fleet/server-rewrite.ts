import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PRIVATE, writeWhole } from '../files/write-whole.ts';
import { preloadText } from './server-config.ts';

type Accounts = Readonly<Record<string, string>>;

const PRELOAD = /^resolver_preload \{\n[^}]*\}/m;

/**
 * Writes the fleet's current accounts into the configuration of every server beside its keys; everything else
 * in the files stays. `ofSites`: those of the sites' servers. Returns the changed files.
 */
export function rewriteServers(
  folder: string,
  accounts: Accounts,
  ofSites: Record<string, Accounts> = {},
): string[] {
  const servers = path.join(folder, 'servers');
  const places = existsSync(servers) ? readdirSync(servers).map((name) => path.join(servers, name)) : [];
  const files = [folder, ...places].map((place) => path.join(place, 'server.conf')).filter(existsSync);
  const written = files.filter((file) => PRELOAD.test(readFileSync(file, 'utf8')));
  for (const file of written) {
    const current = preloadText(ofSites[path.basename(path.dirname(file))] ?? accounts);
    writeWhole(
      file,
      readFileSync(file, 'utf8').replace(PRELOAD, () => current),
      PRIVATE,
    );
  }
  return written;
}
