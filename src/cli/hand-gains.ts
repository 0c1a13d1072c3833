import { parse } from 'yaml';
import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import { readBounded } from '../files/read-bounded.ts';
import { retargetConfig } from '../mapping/retarget/retargeter.ts';

/** A rig that has the gains under operator.hand. */
const rig = z.object({ operator: z.object({ hand: z.looseObject({}) }) });

/** Gains and biases from a YAML file, or from a rig. */
export function loadGains(file: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parse(readBounded(file).bytes.toString()) ?? {};
  } catch (cause) {
    throw new TeleopError('file-unreadable', `${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'Give a YAML file with gain and biasRad.',
      cause,
    });
  }
  const found = rig.safeParse(value);
  const taken = found.success ? pick(found.data.operator.hand) : value;
  const parsed = retargetConfig.safeParse(taken);
  if (parsed.success) return taken as Record<string, unknown>;
  const issue = parsed.error.issues[0]!;
  throw new TeleopError('bad-config', `${file}: ${[...issue.path, issue.message].join(': ')}`, {
    hint: 'It needs gain and biasRad, one number per joint each, like operator.hand of a rig.',
  });
}

const pick = (hand: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(hand).filter(([key]) => key in retargetConfig.shape));
