// Runs compiled test files in this process, one after another: test-process.mjs CPU_FILE FILE... Writes the CPU time
// that they took, in ms, to CPU_FILE. Gives every test a time limit and fast-check its
// seed, and ends the process when the tests have ended but something keeps it alive.
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { IN_FILE, open } from './events.mjs';
import { cpuMs } from './processes.mjs';
import { SLOWER } from './slower.mjs';

/** For a test or hook without its own or its suite's `timeout`. */
const TEST_LIMIT_MS = 60_000;
const EXIT_LIMIT_MS = 10_000;

const nodeTest = createRequire(import.meta.url)('node:test');
/** What a test's enclosing suites decide: its time limit, and why it is skipped, if it is. */
const around = new AsyncLocalStorage();
const inherited = () => around.getStore() ?? { timeout: TEST_LIMIT_MS * SLOWER };
/** The file whose tests are being registered; the name of each of its top-level tests and suites begins with it. */
let loading = '';
const placed = (name) => (around.getStore() === undefined ? `${loading}${IN_FILE}${name}` : name);

function parts(args) {
  const fn = args.find((arg) => typeof arg === 'function');
  const options = args.find((arg) => typeof arg === 'object' && arg !== null) ?? {};
  const name = typeof args[0] === 'string' ? args[0] : (fn?.name ?? '');
  return { name, options, fn };
}

const wrapTest =
  (original) =>
  (...args) => {
    const { name, options, fn } = parts(args);
    return original(placed(name), { ...options, ...inheritedBy(options) }, fn);
  };

const inheritedBy = ({ timeout, skip }) => ({
  timeout: timeout === undefined ? inherited().timeout : timeout * SLOWER,
  ...(skip || !inherited().skip ? {} : { skip: inherited().skip }),
});

/**
 * A suite's `timeout` applies to each of its tests: their sum depends on the machine. A skipped suite is still
 * walked, to count the tests that are not run.
 */
const wrapSuite =
  (original) =>
  (...args) => {
    const { name, options, fn } = parts(args);
    const { timeout: _, skip: __, ...rest } = options;
    const store = inheritedBy(options);
    if (options.skip) store.skip = options.skip;
    const body = store.skip ? (context) => quietly(fn, context) : fn;
    return original(placed(name), rest, fn && ((context) => around.run(store, body, context)));
  };

/** The hooks of a skipped suite may lack what the suite is skipped for. */
async function quietly(fn, context) {
  try {
    await fn(context);
  } catch {
    // Its other tests are not counted.
  }
}

const wrapHook = (original) => (fn, options) => {
  const { skip } = inherited();
  if (!skip) original(fn, { ...options, ...inheritedBy({ timeout: options?.timeout }) });
};

for (const [names, wrap] of [
  [['test', 'it'], wrapTest],
  [['describe', 'suite'], wrapSuite],
])
  for (const name of names) nodeTest[name] = Object.assign(wrap(nodeTest[name]), { ...nodeTest[name] });
for (const name of ['before', 'after', 'beforeEach', 'afterEach']) nodeTest[name] = wrapHook(nodeTest[name]);
syncBuiltinESMExports();

/** An unclosed handle keeps the process alive: report it instead of hanging. */
function watchExit() {
  let idleMs = 0;
  setInterval(() => {
    idleMs = open.count === 0 ? idleMs + 1000 : 0;
    if (idleMs < EXIT_LIMIT_MS) return;
    console.error(`The tests have ended; still open: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  }, 1000).unref();
}

const [cpuFile, ...files] = process.argv.splice(2);
process.on('exit', () => writeFileSync(cpuFile, String(cpuMs())));
process.argv[1] = path.resolve(files[0]);
if (files.some((file) => readFileSync(file, 'utf8').includes("'fast-check'"))) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed: Number(process.env.FARHAND_SEED) });
}
for (const file of files) {
  loading = file;
  await import(pathToFileURL(path.resolve(file)));
}
watchExit();
