// A node:test reporter: one line of JSON per event that the runner needs.
import { inspect } from 'node:util';

/** Between a file's path and the name of a test in it. */
export const IN_FILE = '\0';

/** Top-level tests and suites that are registered and have not ended. */
export const open = { count: 0 };

const KINDS = { 'test:enqueue': opened, 'test:complete': closed };

function opened({ nesting }) {
  if (nesting === 0) open.count++;
}

function closed({ nesting }) {
  if (nesting === 0) open.count--;
}

const shown = (name) => name.replace(IN_FILE, ' › ');

/** The relevant part of an error; node:test wraps the one that was thrown. */
const textOf = (error) => inspect(error?.cause instanceof Error ? error.cause : error, { depth: 6 });

function result(type, data, names) {
  const { skip, todo, details } = data;
  const suite = details.type === 'suite';
  const ok = type === 'test:pass' || todo !== undefined;
  // A suite counts only when it is skipped as a whole or fails itself.
  if (suite && (ok ? skip === undefined : details.error?.failureType === 'subtestsFailed')) return null;
  const skipped = skip === undefined ? null : skip === true || skip === '' ? 'no reason given' : String(skip);
  const [file, name] = names
    .slice(0, data.nesting + 1)
    .join(' › ')
    .split(IN_FILE);
  return {
    file,
    kind: ok ? (skipped === null ? 'pass' : 'skip') : 'fail',
    name,
    ms: Math.round(details.duration_ms),
    ...(skipped === null ? {} : { why: skipped }),
    ...(ok ? {} : { error: textOf(details.error) }),
  };
}

export default async function* events(source) {
  const names = [];
  for await (const { type, data } of source) {
    KINDS[type]?.(data);
    if (type === 'test:start') names.splice(data.nesting, names.length, data.name);
    let line = null;
    if (type === 'test:dequeue') line = { kind: 'running', name: shown(data.name) };
    if (type === 'test:complete') line = { kind: 'ended', name: shown(data.name) };
    if (type === 'test:diagnostic' && /asynchronous activity/.test(data.message))
      line = { kind: 'note', text: data.message };
    if (type === 'test:pass' || type === 'test:fail') {
      names.splice(data.nesting, names.length, data.name);
      line = result(type, data, names);
    }
    if (line !== null) yield `${JSON.stringify(line)}\n`;
  }
  yield `${JSON.stringify({ kind: 'end' })}\n`;
}
