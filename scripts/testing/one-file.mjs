// Runs one compiled test file in this process. It gives every test a time limit, fast-check its seed, and ends the
// process when the tests are over but something keeps it alive.
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { open } from './events.mjs';

/** For a test or hook without a `timeout` of its own or of its suite. */
const TEST_LIMIT_MS = 60_000;
const EXIT_LIMIT_MS = 10_000;

const nodeTest = createRequire(import.meta.url)('node:test');
const suiteLimit = new AsyncLocalStorage();
const limitMs = () => suiteLimit.getStore() ?? TEST_LIMIT_MS;

function parts(args) {
  const fn = args.find((arg) => typeof arg === 'function');
  const options = args.find((arg) => typeof arg === 'object' && arg !== null) ?? {};
  const name = typeof args[0] === 'string' ? args[0] : (fn?.name ?? '');
  return { name, options, fn };
}

const limitedTest = (original) =>
  Object.assign(
    (...args) => {
      const { name, options, fn } = parts(args);
      return original(name, { timeout: limitMs(), ...options }, fn);
    },
    { ...original },
  );

/** The `timeout` of a suite holds for each of its tests: the sum of them depends on the machine. */
const limitedSuite = (original) =>
  Object.assign(
    (...args) => {
      const { name, options, fn } = parts(args);
      const { timeout = limitMs(), ...rest } = options;
      return original(name, rest, fn && ((context) => suiteLimit.run(timeout, fn, context)));
    },
    { ...original },
  );

const limitedHook = (original) => (fn, options) => original(fn, { timeout: limitMs(), ...options });

for (const name of ['test', 'it']) nodeTest[name] = limitedTest(nodeTest[name]);
for (const name of ['describe', 'suite']) nodeTest[name] = limitedSuite(nodeTest[name]);
for (const name of ['before', 'after', 'beforeEach', 'afterEach'])
  nodeTest[name] = limitedHook(nodeTest[name]);
syncBuiltinESMExports();

/** A handle that nobody closed keeps the process alive: say so instead of hanging. */
function watchExit() {
  let idleMs = 0;
  setInterval(() => {
    idleMs = open.count === 0 ? idleMs + 1000 : 0;
    if (idleMs < EXIT_LIMIT_MS) return;
    console.error(`The tests have ended; still open: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  }, 1000).unref();
}

const file = path.resolve(process.argv[2]);
process.argv.splice(1, 2, file);
if (readFileSync(file, 'utf8').includes("'fast-check'")) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed: Number(process.env.FARHAND_SEED) });
}
await import(pathToFileURL(file));
watchExit();
