import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { TeleopError } from '../core/errors.ts';
import { stateFolder } from '../files/state-folder.ts';
import { AttemptLog } from '../fleet/attempts.ts';
import { openAuthority } from '../fleet/authority.ts';
import type { Given } from './arguments.ts';

/** `farhand fleet attempts LOGFILE`: who tried what they may not do. */
export async function attempts(given: Given): Promise<number> {
  const [, file = '', ...more] = given.words;
  if (file === '' || more.length > 0 || !existsSync(file))
    throw new TeleopError(
      'bad-option',
      file === '' ? 'fleet attempts needs a log file' : `there is no file ${file}`,
      {
        hint: 'Name the log of a nats-server: `farhand fleet attempts LOGFILE --dir DIR`.',
      },
    );
  const authority = openAuthority(
    path.resolve(String(given.values['dir'] ?? path.join(stateFolder(), 'fleet'))),
  );
  const log = new AttemptLog(authority);
  for await (const line of createInterface({ input: createReadStream(file) })) log.add(line);
  const { users } = log;
  if (given.values['json'] === true) console.log(JSON.stringify(users));
  else if (users.length === 0) console.log('nobody tried anything that they may not do');
  else
    for (const { user, publicKey, published, subscribed, subjects } of users)
      console.log(
        `${user ?? `unknown key ${publicKey}`}: ${published} messages, ${subscribed} subscriptions; last ${subjects.join(', ')}`,
      );
  return 0;
}
