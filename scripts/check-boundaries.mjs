// The import table of the architecture. A stage imports core and itself; only app and cli see more than one.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const STAGES = ['input', 'mapping', 'wire', 'robot', 'camera', 'record', 'trace', 'fleet'];
const MAY_IMPORT = {
  core: [],
  files: ['core'],
  ...Object.fromEntries(STAGES.map((stage) => [stage, ['core', 'files']])),
  app: ['core', 'files', ...STAGES],
  cli: [
    'core',
    'files',
    'app',
    'input',
    'mapping',
    'trace',
    'wire',
    'robot',
    'camera',
    'record',
    'fleet',
    'sim',
  ],
};
const WEB_MAY_IMPORT = ['src/core/', 'src/mapping/', 'src/wire/codecs/', 'src/input/codecs/'];
// Browser-safe: nothing of Node's.
const BROWSER_SAFE = ['src/core/', 'src/mapping/', 'src/wire/codecs/', 'src/input/codecs/', 'web/'];
const PLUGIN_FOLDERS = ['src/robot/drivers/', 'src/input/devices/', 'src/camera/sources/'];
// Clocks and chance are handed in; these own them.
const MAY_TELL_TIME = [
  'src/core/',
  'src/app/',
  'src/cli/',
  'src/wire/transports/',
  'src/robot/buses/',
  'src/camera/channel/',
];

const files = ['src', 'web', 'test', 'bench', 'sim']
  .filter((folder) => existsSync(folder))
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|mts|tsx)$/.test(entry.name))
      .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name).replaceAll('\\', '/')),
  );
const problems = [];

for (const file of files) {
  const text = readFileSync(file, 'utf8');
  const isTest = file.endsWith('.test.ts');
  const owner = file.startsWith('src/') ? file.split('/')[1] : null;
  for (const [, target] of text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)) {
    if (
      target.startsWith('node:') &&
      !isTest &&
      !file.endsWith('vite.config.ts') &&
      BROWSER_SAFE.some((p) => file.startsWith(p))
    )
      problems.push(`${file}: ${target} is not browser-safe`);
    if (!target.startsWith('.')) continue;
    if (!/\.(tsx?|css)$/.test(target)) problems.push(`${file}: import "${target}" needs its .ts extension`);
    const to = path.posix.normalize(path.posix.join(path.posix.dirname(file), target));
    const stage = to.startsWith('src/') ? to.split('/')[1] : to.startsWith('sim/') ? 'sim' : null;
    if (
      owner !== null &&
      stage !== owner &&
      !(isTest && (stage === 'core' || to.startsWith('test/'))) &&
      !MAY_IMPORT[owner]?.includes(stage)
    )
      problems.push(`${file}: ${owner} may not import ${to}`);
    if (stage === 'files' && !isTest && BROWSER_SAFE.some((p) => file.startsWith(p)))
      problems.push(`${file}: ${to} is not browser-safe`);
    if (file.startsWith('web/') && to.startsWith('src/') && !WEB_MAY_IMPORT.some((p) => to.startsWith(p)))
      problems.push(`${file}: the page may not import ${to}`);
    if (!isTest && owner !== null && PLUGIN_FOLDERS.some((p) => to.startsWith(p)))
      problems.push(`${file}: plug-ins are found by name, not imported (${to})`);
  }
  if (owner !== null && !isTest && !MAY_TELL_TIME.some((p) => file.startsWith(p)))
    for (const [word] of text.matchAll(
      /\b(Date\.now|new Date\(\)|setTimeout|setInterval|Math\.random|performance\.now)\b/g,
    ))
      problems.push(
        `${file}: ${word} outside core, app, cli, wire/transports, robot/buses and camera/channel`,
      );
  const lines = text.split('\n').length;
  if (lines > 500) problems.push(`${file}: ${lines} lines; files stay under 500`);
}

for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${problems.length} boundary problems`);
process.exit(problems.length === 0 ? 0 : 1);
