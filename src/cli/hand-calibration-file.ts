import { existsSync, readFileSync } from 'node:fs';
import { parseDocument, stringify } from 'yaml';
import { TeleopError } from '../core/errors.ts';
import { writeWhole } from '../files/write-whole.ts';
import type { Person } from '../messages/person.ts';
import { savePerson } from '../rig/people.ts';
import type { Given } from './arguments.ts';

/** Stores the hand under the person's name, or in the given file, and names the person in a rig. Returns the file. */
export function writePerson(given: Given, person: Person): string {
  const { out, rig } = given.values;
  const name = String(given.values['person'] ?? 'me');
  const rigText = typeof rig === 'string' ? withPerson(rig, typeof out === 'string' ? out : name) : null;
  let file = String(out);
  if (typeof out === 'string') writeWhole(out, stringify(person));
  else file = savePerson(name, person);
  if (rigText !== null) writeWhole(String(rig), rigText);
  return file;
}

/** The text of a rig with the person set; everything else, including comments, is kept. */
function withPerson(file: string, person: string): string {
  if (!existsSync(file))
    throw new TeleopError('file-missing', `rig file ${file} does not exist`, {
      hint: 'Give the path of your own rig file: --rig my-hand.yaml.',
    });
  const document = parseDocument(readFileSync(file, 'utf8'));
  if (document.errors.length > 0)
    throw new TeleopError('file-unreadable', `${file}: ${document.errors[0]!.message}`, {
      hint: 'Fix the YAML, or write to another file: --out FILE.',
    });
  document.setIn(['operator', 'hand', 'person'], person);
  return document.toString();
}
