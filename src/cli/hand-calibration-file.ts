import { existsSync, readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { TeleopError } from '../core/errors.ts';
import { writeWhole } from '../files/write-whole.ts';
import type { HandCalibration } from '../mapping/retarget/calibration.ts';
import type { Given } from './arguments.ts';

/** Writes into the given rig or a separate file. Returns its path. */
export function writeGains(given: Given, model: string, found: HandCalibration): string {
  const rig = given.values['rig'];
  if (typeof rig === 'string') {
    writeWhole(rig, withGains(rig, ['operator', 'hand'], found));
    return rig;
  }
  const file = String(given.values['out'] ?? `${model}.gains.yaml`);
  writeWhole(file, withGains(file, [], found));
  return file;
}

/** The text of a YAML file with the gains set; everything else, including comments, is kept. */
function withGains(file: string, under: readonly string[], found: HandCalibration): string {
  const isRig = under.length > 0;
  if (isRig && !existsSync(file))
    throw new TeleopError('file-missing', `rig file ${file} does not exist`, {
      hint: 'Give the path of your own rig file: --rig my-hand.yaml.',
    });
  const document = parseDocument(existsSync(file) ? readFileSync(file, 'utf8') : '');
  if (document.errors.length > 0)
    throw new TeleopError('file-unreadable', `${file}: ${document.errors[0]!.message}`, {
      hint: 'Fix the YAML, or write to another file: --out FILE.',
    });
  if (document.contents === null)
    document.commentBefore = ' Written by `farhand calibrate hand`: joint = angle of the hand · gain + bias.';
  for (const key of ['gain', 'biasRad'] as const)
    for (const [name, value] of Object.entries(found[key])) document.setIn([...under, key, name], value);
  return document.toString();
}
