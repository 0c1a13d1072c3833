import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { formatIp, parseIp } from '../core/ip-address.ts';
import { isLoopback } from '../core/loopback.ts';
import { parseJson } from '../core/parse-json.ts';
import { stateFolder } from '../files/state-folder.ts';
import { writeWhole } from '../files/write-whole.ts';
import { type PriorJson, parsePrior } from './playout/adaptive/prior.ts';

const FORMAT = 'farhand-networks/1';
/** Networks kept; the least recently used one is dropped. */
const MAX_NETWORKS = 64;

const MAX_FILE_BYTES = 1 << 20;
const fileSchema = z.object({ format: z.literal(FORMAT), networks: z.record(z.string(), z.unknown()) });

/** What playout learnt about each network, by its name. */
export type Priors = Record<string, PriorJson>;

/** A name for the network an address is on: the first three numbers, of IPv6 the first 64 bits. */
export function networkOf(address: string): string {
  if (isLoopback(address)) return 'loopback';
  const six = address.includes(':') ? parseIp(address.replace(/%.*/, '')) : null;
  if (six !== null) return `${formatIp(six.fill(0, 8))}/64`;
  return `${address.split('.').slice(0, 3).join('.')}.0/24`;
}

const fileOf = (folder: string): string => path.join(folder, 'networks.json');

/** A missing or unrecognised file counts as empty: playout then starts as on an unknown network. */
export function loadPriors(folder = stateFolder()): Priors {
  const priors: Priors = {};
  for (const [name, value] of Object.entries(readNetworks(folder))) {
    const prior = parsePrior(value);
    if (prior !== null) priors[name] = prior;
  }
  return priors;
}

export function keepPrior(name: string, prior: PriorJson, folder = stateFolder()): void {
  const { [name]: _, ...others } = readNetworks(folder);
  const recent = Object.entries(others).slice(-(MAX_NETWORKS - 1));
  const networks = Object.fromEntries([...recent, [name, prior]]);
  const text = `${JSON.stringify({ format: FORMAT, networks }, null, 1)}\n`;
  writeWhole(fileOf(folder), text, {
    folderMode: 0o755,
    hint: 'Set FARHAND_STATE=FOLDER to use another folder.',
  });
}

function readNetworks(folder: string): Record<string, unknown> {
  try {
    const content = parseJson(readFileSync(fileOf(folder)), fileSchema, MAX_FILE_BYTES);
    return typeof content === 'string' ? {} : content.networks;
  } catch {
    return {};
  }
}
