import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { TeleopError } from '../core/errors.ts';
import { hostPort } from '../core/ip-address.ts';
import { isLoopback } from '../core/loopback.ts';
import {
  checkReachable,
  createKeyFile,
  importKeyFile,
  type OfferEvent,
  offerPairing,
  PAIRING_PORT,
  type Paired,
  requestPairing,
  type StoredKey,
  setKeyRole,
} from '../wire/pairing/pairing.ts';
import { lanAddresses } from '../wire/pairing/pairing-socket.ts';
import {
  isExposed,
  isKeyName,
  KEY_ROLES,
  type KeyRole,
  keyFolder,
  type ListedKey,
  listKeys,
} from '../wire/secure/key-file.ts';
import { parseCode } from '../wire/secure/pairing-protocol.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from './arguments.ts';

const TIMEOUT_S = 120;
const LOOPBACK = '127.0.0.1';

export const pairVerb: Verb = {
  name: 'pair',
  usage: '[HOST[:PORT]] | --key-file FILE | --import FILE | --list | --remove NAME | --set NAME --role ROLE',
  about:
    'Pairs an operator machine with a robot machine: gives both the same key, by a short code or a key file.',
  details: `farhand pair --listen ADDRESS     robot machine: shows a code and waits
farhand pair HOST[:PORT]          operator machine: prompts for that code
farhand pair --key-file FILE      creates a key to copy by hand (USB stick, scp)
farhand pair --import FILE        stores such a key in the key folder
farhand pair --list               lists names and ids of the keys, never the keys
farhand pair --remove NAME        ends a pairing; a running robot stops within a second
farhand pair --set NAME --role viewer    that machine may only watch cameras and stop the robot

The key folder is \${XDG_CONFIG_HOME:-~/.config}/farhand/keys, or FARHAND_KEYS if set.`,
  examples: [
    'farhand pair --listen 192.168.1.20',
    'farhand pair 192.168.1.20',
    'farhand pair --set ann --role viewer',
  ],
  options: {
    listen: { type: 'string', value: 'ADDRESS', about: `address to wait on (default: ${LOOPBACK})` },
    port: { type: 'string', value: 'PORT', about: `TCP port to wait on (default: ${PAIRING_PORT})` },
    timeout: { type: 'string', value: 'S', about: `how long to wait (default: ${TIMEOUT_S})` },
    code: { type: 'string', value: 'CODE', about: 'the code (default: prompt, or read a line of stdin)' },
    name: {
      type: 'string',
      value: 'NAME',
      about: "name of the key (default: the other machine's name)",
    },
    'key-file': { type: 'string', value: 'FILE', about: 'create a new key in FILE' },
    import: { type: 'string', value: 'FILE', about: 'store the key in FILE in the key folder' },
    list: { type: 'boolean', about: 'list the keys' },
    remove: { type: 'string', value: 'NAME', about: 'delete a key' },
    set: { type: 'string', value: 'NAME', about: 'change the role of a key (on the robot machine)' },
    role: {
      type: 'string',
      value: 'ROLE',
      about: 'what the other machine may do: operator or viewer (default: operator)',
    },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(pairVerb, given, 0, 1);
    const mode = modeOf(given);
    await MODES[mode].run(given);
    return 0;
  },
};

type Mode = 'list' | 'remove' | 'set' | 'import' | 'key-file' | 'operator' | 'robot';

const MODES: Record<Mode, { takes: readonly string[]; run: (given: Given) => void | Promise<void> }> = {
  list: { takes: ['list'], run: list },
  remove: { takes: ['remove'], run: remove },
  set: { takes: ['set', 'role'], run: setRole },
  import: { takes: ['import', 'name', 'role'], run: importKey },
  'key-file': { takes: ['key-file', 'name'], run: createFile },
  operator: { takes: ['code', 'name'], run: request },
  robot: { takes: ['listen', 'port', 'timeout', 'name', 'role'], run: offer },
};

function modeOf(given: Given): Mode {
  const asked = (['list', 'remove', 'set', 'import', 'key-file'] as const).find(
    (name) => given.values[name] !== undefined,
  );
  const mode = asked ?? (given.words.length > 0 ? 'operator' : 'robot');
  const what = {
    list: '--list',
    remove: '--remove',
    set: '--set',
    import: '--import',
    'key-file': '--key-file',
    operator: 'HOST',
    robot: '',
  };
  const extra = Object.keys(given.values).find(
    (name) => name !== 'json' && !MODES[mode].takes.includes(name),
  );
  const stray = extra ? `--${extra}` : (given.overrides[0] ?? (asked && given.words[0]));
  if (stray !== undefined)
    throw new TeleopError('bad-option', `pair ${what[mode]} does not take ${stray}`.replace('  ', ' '), {
      hint:
        extra === 'code'
          ? 'Name the robot machine: farhand pair HOST --code CODE.'
          : 'See `farhand pair --help`.',
    });
  return mode;
}

async function offer(given: Given): Promise<void> {
  const paired = await offerPairing({
    host: String(given.values['listen'] ?? LOOPBACK),
    port: numberOption(given, 'port', 0, 65_535) ?? PAIRING_PORT,
    timeoutS: numberOption(given, 'timeout', 1, 3600) ?? TIMEOUT_S,
    folder: keyFolder(),
    name: nameOption(given),
    role: roleOption(given),
    onEvent: (event) => print(given, event, eventText(event)),
  });
  print(given, { kind: 'paired', ...paired }, pairedText(paired));
}

function eventText(event: OfferEvent): string {
  if (event.kind === 'new-code') return `\n  New pairing code: ${event.code}\n`;
  if (event.kind === 'wrong-code') {
    const left =
      event.guessesLeft === 0
        ? 'this code is now invalid'
        : `${event.guessesLeft} attempts left for this code`;
    return `Wrong code from ${event.from}; ${left}.`;
  }
  const { host, port, code, timeoutS } = event;
  const suffix = port === PAIRING_PORT ? '' : `:${port}`;
  const everywhere = host === '0.0.0.0' || host === '::';
  const commands = (everywhere ? lanAddresses() : [host]).map(
    (address) => `farhand pair ${address}${suffix}`,
  );
  const others = lanAddresses().map((address) => `--listen ${address}`);
  const reach = isLoopback(host)
    ? `which only this machine can reach. For another machine: farhand pair ${others.join(' or ') || '--listen ADDRESS'}`
    : 'open to every machine on that network until then.';
  return `
  Pairing code: ${code}

  On the operator machine: ${commands.join('\n                       or: ')}

Waiting ${timeoutS} s on ${hostPort(host, port)}, ${reach}`;
}

async function request(given: Given): Promise<void> {
  const { host, port } = parseHost(given.words[0]!);
  const name = nameOption(given);
  const code = await codeOf(given, host, port);
  const paired = await requestPairing({ host, port, code, folder: keyFolder(), name });
  print(given, { kind: 'paired', ...paired }, pairedText(paired));
}

/** HOST, HOST:PORT, [IPv6]:PORT or a bare IPv6 address. */
function parseHost(text: string): { host: string; port: number } {
  const parts = /^\[([^\]]+)\](?::(\d+))?$/.exec(text) ?? /^([^:]+)(?::(\d+))?$/.exec(text);
  const bare = /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.%\w]*$/i.test(text);
  const port = Number(parts?.[2] ?? PAIRING_PORT);
  if (!bare && (parts === null || port < 1 || port > 65_535))
    throw new TeleopError('bad-option', `"${text}" is not HOST or HOST:PORT`, {
      hint: `For example, 192.168.1.20 or robot.local:${PAIRING_PORT}.`,
    });
  return { host: parts?.[1] ?? text, port };
}

async function codeOf(given: Given, host: string, port: number): Promise<string> {
  const typed = given.values['code'];
  if (typed !== undefined) return parseCode(String(typed)) ?? badCode(String(typed));
  if (!process.stdin.isTTY) {
    const line = await readLine('');
    return parseCode(line ?? '') ?? badCode(line ?? '');
  }
  await checkReachable(host, port);
  for (;;) {
    const line = await readLine('Code shown on the robot machine: ');
    const code = line === null ? badCode('') : parseCode(line);
    if (code !== null) return code;
    console.error('A code is eight letters and digits, like 7KQ2-M9XD.');
  }
}

function badCode(typed: string): never {
  throw new TeleopError(
    'bad-option',
    typed === '' ? 'no code was given' : `"${typed}" is not a pairing code`,
    {
      hint: 'Enter the eight letters and digits that the robot machine shows, for example --code 7KQ2-M9XD.',
    },
  );
}

/** One line of stdin; null at end of input or on Ctrl-C. */
async function readLine(prompt: string): Promise<string | null> {
  const lines = createInterface({
    input: process.stdin,
    output: prompt ? process.stderr : undefined,
    prompt,
  });
  lines.once('SIGINT', () => lines.close());
  if (prompt) lines.prompt();
  try {
    for await (const line of lines) return line;
    if (prompt) process.stderr.write('\n');
    return null;
  } finally {
    lines.close();
  }
}

function createFile(given: Given): void {
  const file = String(given.values['key-file']);
  const made = createKeyFile(file, nameOption(given));
  const text = `Created key ${made.id} in ${file}.
On both machines: farhand pair --import ${file}
Then delete the file: anyone who has it can drive the robot.`;
  print(given, made, text);
  warnExposed(file);
}

function importKey(given: Given): void {
  const file = String(given.values['import']);
  const stored = importKeyFile(file, keyFolder(), nameOption(given), roleOption(given));
  print(given, stored, `${storedText(stored)}\nDelete ${file} once both machines have it.`);
  warnExposed(file);
}

function list(given: Given): void {
  const folder = keyFolder();
  const keys = listKeys(folder);
  if (given.values['json'] === true) console.log(JSON.stringify(keys));
  else if (keys.length === 0) console.log(`No keys in ${folder}.`);
  const width = Math.max(...keys.map(({ name }) => name.length)) + 2;
  if (given.values['json'] !== true)
    for (const { name, id, createdAt, role, problem } of keys)
      console.log(`${name.padEnd(width)}${problem ?? `${id}  ${createdAt}  ${role}`}`);
}

function findKey(name: string): ListedKey {
  const found = listKeys(keyFolder()).find((key) => key.name === name);
  if (found !== undefined) return found;
  throw new TeleopError('key-missing', `there is no key "${name}" in ${keyFolder()}`, {
    hint: '`farhand pair --list` lists the keys.',
  });
}

function setRole(given: Given): void {
  if (given.values['role'] === undefined)
    throw new TeleopError('bad-option', '--set needs --role', {
      hint: 'For example: farhand pair --set NAME --role viewer.',
    });
  const [name, role] = [String(given.values['set']), roleOption(given)];
  const { path: file, id } = findKey(name);
  setKeyRole(file, role);
  const text = `"${name}" is now ${role === 'viewer' ? 'a viewer: it may watch cameras and stop the robot' : 'an operator: it may drive the robot'}.
This counts on the robot machine. A running robot stops within a second; start it again.`;
  print(given, { kind: 'changed', name, path: file, id, role }, text);
}

function roleOption(given: Given): KeyRole {
  const text = String(given.values['role'] ?? 'operator');
  const role = KEY_ROLES.find((each) => each === text);
  if (role !== undefined) return role;
  throw new TeleopError('bad-option', `"${text}" is not a role`, {
    hint: `Use --role ${KEY_ROLES.join(' or --role ')}.`,
  });
}

function remove(given: Given): void {
  const name = String(given.values['remove']);
  const found = findKey(name);
  rmSync(found.path);
  const { path: file, id } = found;
  print(
    given,
    { kind: 'removed', name, path: file, id },
    `Removed ${file}. A running robot stops within a second; an operator keeps the key until it is restarted.`,
  );
}

function nameOption(given: Given): string | null {
  const name = given.values['name'];
  if (name === undefined) return null;
  if (!isKeyName(String(name)))
    throw new TeleopError('bad-option', `"${name}" is not a valid key name`, {
      hint: 'Use up to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit.',
    });
  return String(name);
}

function warnExposed(file: string): void {
  if (isExposed(file))
    console.error(
      `farhand: other users of this machine can read ${file}; its file system may not support file modes`,
    );
}

const storedText = ({ name, id, path }: StoredKey): string => `Key ${id} is "${name}", in ${path}`;

function pairedText(paired: Paired): string {
  const replaced = paired.replaced ? `\nIt replaces key ${paired.replaced} of the same name.` : '';
  return `Paired with ${paired.peer}.\n${storedText(paired)}${replaced}`;
}

const print = (given: Given, line: unknown, text: string): void =>
  console.log(given.values['json'] === true ? JSON.stringify(line) : text);
