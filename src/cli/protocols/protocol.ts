import { TeleopError } from '../../core/errors.ts';
import { closest } from '../../core/suggest.ts';
import { brachioplexus } from './brachioplexus.ts';
import type { Protocol } from './contract.ts';
import { openteach } from './openteach.ts';
import { rctp } from './rctp.ts';

/** One line per protocol. */
export const PROTOCOLS: Readonly<Record<string, Protocol>> = { brachioplexus, openteach, rctp };

export function protocolNamed(name: string | undefined): Protocol {
  const names = Object.keys(PROTOCOLS);
  if (name !== undefined && Object.hasOwn(PROTOCOLS, name)) return PROTOCOLS[name]!;
  const near = name === undefined ? null : closest(name, names);
  throw new TeleopError(
    'bad-option',
    name === undefined ? 'no protocol given' : `there is no protocol "${name}"`,
    {
      hint: `${near ? `Did you mean "${near}"? ` : ''}Available: ${names.join(', ')}.`,
    },
  );
}
