import { preflight } from '../app/preflight.ts';
import { TeleopError } from '../core/errors.ts';
import { startFleetConsole } from '../fleet/console/fleet-console-server.ts';
import { loadRig } from '../rig/rig.ts';
import { type Given, numberOption } from './arguments.ts';
import { lanText } from './console.ts';
import { accessOf } from './fleet-actions.ts';
import { onEndRequest, parentChannel } from './process.ts';

/** `farhand fleet console`: the fleet in a browser, with one user's credentials. */
export async function fleetConsole(given: Given): Promise<number> {
  if (given.words.length > 1)
    throw new TeleopError('bad-option', `fleet console does not take "${given.words.at(-1)}"`, {
      hint: 'See `farhand fleet --help`.',
    });
  const port = numberOption(given, 'port', 0, 65_535);
  const settings = [
    ...(given.values['lan'] ? ['console.host=0.0.0.0', 'console.https=true'] : []),
    ...(port === null ? [] : [`console.port=${port}`]),
    ...given.overrides,
  ];
  const { config } = loadRig(String(given.values['rig'] ?? 'demo'), settings);
  await preflight(config, ['console']);
  const ended = new Promise<null>((resolve) => onEndRequest(() => resolve(null)));
  const access = accessOf(given, 'me');
  const handle = await startFleetConsole(config, access);
  const lan = lanText(handle);
  void parentChannel()({ kind: 'ready', info: { url: handle.url, lan } });
  console.log(`fleet console: ${handle.url}\n${lan}`.trimEnd());
  const reason = await Promise.race([ended, handle.ended]);
  await handle.close();
  if (reason === null) return 0;
  console.error(`farhand: fleet console ended: ${reason}`);
  return 1;
}
