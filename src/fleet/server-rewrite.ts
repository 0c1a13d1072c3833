import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PRIVATE, writeWhole } from '../files/write-whole.ts';
import { preloadText } from './server-config.ts';

const PRELOAD = /^resolver_preload \{\n[^}]*\}/m;

/**
 * Writes the fleet's current accounts into the configuration of every server beside its keys; everything else
 * in the files stays. Returns the changed files.
 */
export function rewriteServers(folder: string, accounts: Readonly<Record<string, string>>): string[] {
  const servers = path.join(folder, 'servers');
  const places = existsSync(servers) ? readdirSync(servers).map((name) => path.join(servers, name)) : [];
  const files = [folder, ...places].map((place) => path.join(place, 'server.conf')).filter(existsSync);
  return files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    if (!PRELOAD.test(text)) return false;
    writeWhole(
      file,
      text.replace(PRELOAD, () => preloadText(accounts)),
      PRIVATE,
    );
    return true;
  });
}
