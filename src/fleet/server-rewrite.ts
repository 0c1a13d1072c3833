import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PRIVATE, writeWhole } from '../files/write-whole.ts';
import { preloadText } from './server-config.ts';

const PRELOAD = /^resolver_preload \{\n[^}]*\}/m;

/**
 * Puts the fleet's accounts as they are now into the settings of every server beside its keys; all else that was written
 * into them stays. Returns the files.
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
