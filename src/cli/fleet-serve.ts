import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { versionWarning } from '../fleet/server-version.ts';
import { startServices } from '../fleet/store/services.ts';
import { ROBOT_PATTERN } from '../fleet/subjects.ts';
import type { Given, OptionSpec } from './arguments.ts';
import { accessOf, fleetSettings } from './fleet-actions.ts';
import { onEndRequest, parentChannel } from './process.ts';

export const SERVE_OPTIONS: Record<string, OptionSpec> = {
  'lease-key': {
    type: 'string',
    value: 'FILE',
    about: 'serve: key that signs leases (default: the one beside the credentials)',
  },
  'site-creds': {
    type: 'string',
    value: 'FILE',
    about: 'serve, at a site: the site’s credentials, so that the fleet reaches its services',
  },
  roster: {
    type: 'string',
    value: 'FILE',
    about: 'serve: credentials of the roster (default: roster.creds beside the others)',
  },
  except: { type: 'string', value: 'NAMES', about: 'serve: robots that their own site serves' },
};

export const ROSTER_FILE = 'roster.creds';

/** The file beside a service's credentials that holds its lease key. */
export const leaseKeyFile = (credentials: string): string =>
  credentials.replace(/\.creds$/, '.lease-key.pem');

function patternsOf(text: string): string[] {
  const patterns = text.split(',').filter((name) => name !== '');
  const bad = patterns.find((name) => !ROBOT_PATTERN.test(name));
  if (bad === undefined) return patterns;
  throw new TeleopError('bad-option', `"${bad}" is not a robot`, {
    hint: 'Write NAME, GROUP/NAME or GROUP/*.',
  });
}

/** `farhand fleet serve`: leases, recordings and log, beside a server. */
export async function serve(given: Given): Promise<number> {
  const { url, credentials } = accessOf(given, 'service');
  const text = (name: string) => (typeof given.values[name] === 'string' ? given.values[name] : undefined);
  const site = text('site-creds');
  const file = path.resolve(text('lease-key') ?? leaseKeyFile(site ?? credentials));
  if (!existsSync(file))
    throw new TeleopError('key-missing', `there is no lease key in ${file}`, {
      hint: 'Copy it from the folder of the fleet’s keys, or name it: --lease-key FILE.',
    });
  const [only, except] = [patternsOf(text('robots') ?? '*'), patternsOf(text('except') ?? '')];
  const { plainBeyondLoopback } = fleetSettings(given);
  const ended = new Promise<null>((resolve) => onEndRequest(() => resolve(null)));
  const leaseKey = readFileSync(file, 'utf8');
  const beside = path.join(path.dirname(credentials), ROSTER_FILE);
  const roster = text('roster') ?? (existsSync(beside) ? beside : undefined);
  const services = await startServices({
    url,
    credentials,
    leaseKey,
    only,
    except,
    site,
    roster,
    patient: true,
    plainBeyondLoopback,
  });
  const warning = versionWarning(services.connection.nats.info?.version ?? '');
  if (warning !== null) console.error(`farhand: ${warning}`);
  void parentChannel()({ kind: 'ready', info: { url } });
  const also = roster === undefined ? '' : ' and roster';
  console.log(`serving leases, recordings, log${also} at ${url}. Run this beside every server.`);
  const reason = await Promise.race([ended, services.ended]);
  await services.close();
  if (reason === null) return 0;
  console.error('farhand: fleet serve ended: the broker closed the connection');
  return 1;
}
