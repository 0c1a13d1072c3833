// Joins the compiled modules into a few files under dist/run, which `farhand` runs: a process or thread that loads
// hundreds of small modules spends most of its start looking for them. Tests and benches use the modules themselves.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
/** Native packages are loaded where they are installed; `ws` looks for optional ones itself. */
const { optionalDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const EXTERNAL = [...Object.keys(optionalDependencies), 'ws'];
/** It hands the whole of zod to plug-ins, its texts in fifty languages too. Bundled, every process and thread would load them. */
const LIBRARY = path.join(dist, 'src', 'library', 'index.js');
/**
 * What a session loads. A part holds the modules that the same of these load, so that each loads all of a part or nothing,
 * and no two parts import each other.
 */
const ROOTS = [
  ...['robot', 'operator', 'console', 'demo', 'fleet', 'sim'].map((name) => `src/cli/${name}.js`),
  ...['control', 'driver', 'camera', 'trace', 'record', 'link'].map((name) => `src/app/${name}-worker.js`),
  'src/app/fleet/agent-worker.js',
];

/** What is started or found by its path, and therefore keeps it: the command, threads and processes, plug-ins. */
const ENTRY = 'src/cli/main.js';
const PLUGIN =
  /^(src\/robot\/(drivers|grippers)|src\/input\/devices|src\/camera\/sources)\/([^/]+|[^/]+\/index)\.js$|^sim\/[^/]+\/main\.js$/;
const STARTED = /new URL\('(\.[^']+\.js)', import\.meta\.url\)/g;

const modules = ['src', 'sim']
  .flatMap((name) =>
    readdirSync(path.join(dist, name), { recursive: true }).map((file) =>
      path.posix.join(name, file.replaceAll(path.sep, '/')),
    ),
  )
  .filter((file) => file.endsWith('.js') && !file.endsWith('.test.js'));
const started = modules.flatMap((file) =>
  [...readFileSync(path.join(dist, file), 'utf8').matchAll(STARTED)].map(([, to]) =>
    path.posix.join(path.posix.dirname(file), to),
  ),
);
const entries = new Set([ENTRY, ...started, ...modules.filter((file) => PLUGIN.test(file))]);

/** A module's own place, wherever its code ends up. */
const place = {
  name: 'place',
  transform(code, id) {
    const file = path.relative(dist, id).replaceAll(path.sep, '/');
    if (file.startsWith('..') || !code.includes('import.meta.url')) return null;
    return code.replaceAll('import.meta.url', `__placeOf("${file}")`);
  },
  renderChunk(code, { fileName }) {
    if (!code.includes('__placeOf(')) return null;
    return code.replaceAll(/__placeOf\("([^"]+)"\)/g, (_, file) => {
      const relative = path.posix.relative(path.posix.dirname(fileName), file);
      const from = relative.startsWith('.') ? relative : `./${relative}`;
      return `new URL("${from}", import.meta.url).href`;
    });
  },
};

/** For each module, the roots that import it, directly or not: the letters of a part's name. */
function rootsOf(context) {
  const letters = new Map();
  ROOTS.forEach((root, i) => {
    const seen = new Set();
    const visit = (id) => {
      if (seen.has(id)) return;
      seen.add(id);
      letters.set(id, (letters.get(id) ?? '') + String.fromCharCode(97 + i));
      for (const next of context.getModuleInfo(id)?.importedIds ?? []) visit(next);
    };
    visit(path.join(dist, root));
  });
  return letters;
}

let letters;
const own = new Set([...entries].map((file) => path.join(dist, file)));
/** An entry runs when it is loaded: its code stays in its own file. */
const partOf = (id, context) => {
  letters ??= rootsOf(context);
  return !own.has(id) && letters.has(id) ? `part-${letters.get(id)}` : null;
};

const bundle = await rolldown({
  input: Object.fromEntries([...entries].map((file) => [file.slice(0, -3), path.join(dist, file)])),
  platform: 'node',
  external: (id, importer) =>
    EXTERNAL.some((name) => id === name || id.startsWith(`${name}/`)) ||
    (id === 'zod' && importer === LIBRARY),
  preserveEntrySignatures: 'allow-extension',
  plugins: [place],
});
rmSync(path.join(dist, 'run'), { recursive: true, force: true });
await bundle.write({
  dir: path.join(dist, 'run'),
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'parts/[name].js',
  codeSplitting: { groups: [{ name: partOf, debugName: 'part', includeDependenciesRecursively: false }] },
});
await bundle.close();
