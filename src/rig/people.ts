import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { TeleopError } from '../core/errors.ts';
import { readBounded } from '../files/read-bounded.ts';
import { stateFolder } from '../files/state-folder.ts';
import { writeWhole } from '../files/write-whole.ts';
import { type Person, personName, personSchema } from '../messages/person.ts';

const folder = (): string => path.join(stateFolder(), 'hands');
const fileOf = (name: string): string => path.join(folder(), `${name}.yaml`);

/** People whose hand was calibrated on this machine. */
function peopleNames(): string[] {
  if (!existsSync(folder())) return [];
  const files = readdirSync(folder()).filter((file) => file.endsWith('.yaml'));
  return files.map((file) => file.slice(0, -'.yaml'.length)).sort();
}

/** A person's calibration by name, or from a file by its path. */
export function loadPerson(nameOrPath: string): Person {
  const isPath = /[\\/]|\.ya?ml$/.test(nameOrPath);
  const file = isPath ? nameOrPath : fileOf(nameOrPath);
  if (!existsSync(file)) {
    const known = peopleNames();
    throw new TeleopError('file-missing', `no calibration of "${nameOrPath}" (${file})`, {
      hint: `Measure that hand: farhand calibrate hand --person NAME.${known.length > 0 ? ` Known: ${known.join(', ')}.` : ''}`,
    });
  }
  let value: unknown;
  try {
    value = parse(readBounded(file).bytes.toString());
  } catch (cause) {
    throw unreadable(file, (cause as Error).message, cause);
  }
  const parsed = personSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw unreadable(file, [...issue.path, issue.message].join(': '), parsed.error);
}

/** Returns the file. */
export function savePerson(name: string, person: Person): string {
  if (!personName.safeParse(name).success)
    throw new TeleopError('bad-option', `"${name}" is not usable as a person’s name`, {
      hint: 'Use up to 40 letters, digits, blanks, - and _.',
    });
  mkdirSync(folder(), { recursive: true });
  const note =
    '# A person’s hand, measured by `farhand calibrate hand`. Metres and radians; see docs/hand.md.\n';
  writeWhole(fileOf(name), note + stringify(person), {
    hint: 'FARHAND_STATE=FOLDER chooses another folder.',
  });
  return fileOf(name);
}

const unreadable = (file: string, what: string, cause: unknown): TeleopError =>
  new TeleopError('file-unreadable', `${file}: ${what}`, {
    hint: 'Calibrate again: farhand calibrate hand --person NAME.',
    cause,
  });
