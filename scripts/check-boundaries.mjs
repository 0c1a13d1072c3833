// The import table of the architecture: who may import whom, what runs in a browser, who may read a clock.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Every room may import these. */
const FOUNDATION = ['core', 'messages', 'geometry', 'hand', 'files'];
const MAY_IMPORT = {
  core: [],
  messages: ['core', 'geometry', 'hand'],
  geometry: ['core'],
  hand: ['core'],
  files: ['core'],
  // Stages: one step of the data path each.
  input: [],
  mapping: [],
  wire: [],
  camera: [],
  record: [],
  trace: [],
  robot: ['wire'], // the robot's loop decodes commands and writes receipts
};
const EVERY_ROOM = readdirSync('src', { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
MAY_IMPORT.app = EVERY_ROOM.filter((room) => room !== 'cli');
MAY_IMPORT.cli = [...EVERY_ROOM, 'sim'];

const mayImport = (owner, room) =>
  owner === room ||
  MAY_IMPORT[owner]?.includes(room) ||
  (!FOUNDATION.includes(owner) && FOUNDATION.includes(room));

const BROWSER_SAFE = [
  'src/core/',
  'src/messages/',
  'src/geometry/',
  'src/hand/',
  'src/mapping/',
  'src/wire/codecs/',
  'src/input/codecs/',
];
// A plug-in is a file or a folder with an index.ts; the registry finds it by its name.
const PLUGIN_FOLDERS = ['src/robot/drivers/', 'src/input/devices/', 'src/camera/sources/'];
/** Of a file inside a plug-in: the plug-in's path. */
const pluginOf = (file) => {
  const folder = PLUGIN_FOLDERS.find((each) => file.startsWith(each));
  return folder && folder + file.slice(folder.length).split('/')[0].replace(/\.ts$/, '');
};
const isEntry = (file) => file === `${pluginOf(file)}.ts` || file === `${pluginOf(file)}/index.ts`;
// Clocks and chance are handed in; these own them.
const MAY_TELL_TIME = [
  'src/core/',
  'src/app/',
  'src/cli/',
  'src/wire/transports/',
  'src/robot/buses/',
  'src/robot/drivers/',
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
const isBrowserSafe = (file) => [...BROWSER_SAFE, 'web/'].some((folder) => file.startsWith(folder));

for (const file of files) {
  const text = readFileSync(file, 'utf8');
  const isTest = file.endsWith('.test.ts');
  const owner = file.startsWith('src/') ? file.split('/')[1] : null;
  for (const [, target] of text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)) {
    if (target.startsWith('node:') && !isTest && !file.endsWith('vite.config.ts') && isBrowserSafe(file))
      problems.push(`${file}: ${target} is not browser-safe`);
    if (!target.startsWith('.')) continue;
    if (!/\.(tsx?|css)$/.test(target)) problems.push(`${file}: import "${target}" needs its .ts extension`);
    const to = path.posix.normalize(path.posix.join(path.posix.dirname(file), target));
    const room = to.startsWith('src/') ? to.split('/')[1] : to.startsWith('sim/') ? 'sim' : null;
    if (owner !== null && !(isTest && (room === 'core' || to.startsWith('test/'))) && !mayImport(owner, room))
      problems.push(`${file}: ${owner} may not import ${to}`);
    if (room === 'files' && !isTest && isBrowserSafe(file))
      problems.push(`${file}: ${to} is not browser-safe`);
    if (file.startsWith('web/') && to.startsWith('src/') && !BROWSER_SAFE.some((p) => to.startsWith(p)))
      problems.push(`${file}: the page may not import ${to}`);
    if (!isTest && owner !== null && isEntry(to))
      problems.push(`${file}: plug-ins are found by name, not imported (${to})`);
    if (!isTest && pluginOf(file) && pluginOf(to) && pluginOf(file) !== pluginOf(to))
      problems.push(`${file}: a plug-in may not import another (${to})`);
  }
  if (owner !== null && !isTest && !MAY_TELL_TIME.some((p) => file.startsWith(p)))
    for (const [word] of text.matchAll(
      /\b(Date\.now|new Date\(\)|setTimeout|setInterval|Math\.random|performance\.now)\b/g,
    ))
      problems.push(
        `${file}: ${word} outside core, app, cli, wire/transports, robot/buses, robot/drivers and camera/channel`,
      );
  const lines = text.split('\n').length;
  if (lines > 500) problems.push(`${file}: ${lines} lines; files stay under 500`);
}

for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${problems.length} boundary problems`);
process.exit(problems.length === 0 ? 0 : 1);
