// The architecture's import table: which room may import which, what runs in a browser, what may read a
// clock.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { cyclesIn, namesakesIn } from './import-graph.mjs';

/** Every other room may import these. */
const FOUNDATION = ['core', 'messages', 'geometry', 'hand', 'files', 'native'];
/** What a room may import besides itself and the foundation. */
const MAY_IMPORT = {
  core: [],
  messages: ['core', 'geometry', 'hand'],
  geometry: ['core'],
  hand: ['core'],
  files: ['core'],
  native: ['core'],
  // Stages: one step of the data path each.
  input: ['world'], // its expert knows the tasks
  mapping: [],
  wire: [],
  camera: ['world'], // it draws the simulated world
  record: [],
  trace: [],
  robot: ['wire', 'world'], // wire: its loop decodes commands and encodes receipts; world: what its driver moves in
  world: ['mapping'], // its expert places the gripper
  // Shared by subjects: the settings of all stages in one file, pages over HTTP, requests to a running operator.
  rig: ['camera', 'mapping', 'record', 'robot', 'wire'],
  http: [],
  s3: [],
  desk: ['rig', 'wire'],
  // Subjects: what a process or a verb is for. Each lists the stages it uses, and no other subject except:
  operator: ['input', 'mapping', 'rig', 'trace', 'wire'],
  console: ['camera', 'desk', 'http', 'input', 'record', 'rig', 'wire'],
  fleet: ['camera', 'console', 'desk', 'http', 'input', 'record', 'rig', 's3', 'wire'], // console: the same pages and rules
  check: ['trace', 'wire'],
  doctor: ['check', 'rig', 'wire'], // check: the same probes of a path
  profiler: ['http', 'trace'],
  policy: ['camera', 'desk', 'rig', 'wire'],
  publish: ['record', 's3'],
  replay: ['desk'],
  leader: ['input', 'robot'], // robot: its arm uses the same servo bus as the hands
  bridge: ['camera', 'desk', 'http', 'record', 'rig', 'robot'], // record: the same topics; robot: DDS
  // What other packages import: the contracts of plug-ins, a client, and the contract suites.
  library: ['camera', 'input', 'robot'],
  testing: ['app', 'camera', 'input', 'rig', 'robot', 'wire'],
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
  'src/world/',
  'src/wire/codecs/',
  'src/desk/clutch-advice.ts',
  'src/desk/page-hand.ts',
  'src/desk/panel-layout.ts',
  'src/desk/place-hint.ts',
  'src/desk/record-flow.ts',
  'src/desk/tour.ts',
  'src/input/codecs/',
];
/** The simulated arm's page shows what its simulator sends. */
const WEB_MAY_IMPORT = [...BROWSER_SAFE, 'sim/bento/bento-view.ts'];
// A plug-in is a file or a folder with an index.ts; the registry finds it by its name.
const PLUGIN_FOLDERS = [
  'src/robot/drivers/',
  'src/robot/grippers/',
  'src/input/devices/',
  'src/camera/sources/',
];
/** The plug-in path of a file inside a plug-in. */
const pluginOf = (file) => {
  const folder = PLUGIN_FOLDERS.find((each) => file.startsWith(each));
  return folder && folder + file.slice(folder.length).split('/')[0].replace(/\.ts$/, '');
};
const isEntry = (file) => file === `${pluginOf(file)}.ts` || file === `${pluginOf(file)}/index.ts`;
/** Time and randomness are passed in here: no timers, no Node clocks, no random numbers. */
const TIMELESS = [
  ...[
    'messages',
    'geometry',
    'hand',
    'files',
    'input',
    'mapping',
    'wire',
    'camera',
    'record',
    'trace',
    'robot',
    'world',
  ],
  ...['rig', 'operator', 'check', 'leader'],
];
/** Rooms that own sockets own their timers. */
const OWN_TIMERS = [
  'src/wire/transports/',
  'src/wire/pairing/',
  'src/wire/discovery/',
  'src/robot/buses/',
  'src/robot/drivers/',
  'src/robot/grippers/',
  'src/camera/channel/',
  'src/camera/station.ts',
  'src/input/device-files.ts',
];

const MAX_COMPOSING_FILES = 60;

const files = ['src', 'web', 'test', 'bench', 'sim']
  .filter((folder) => existsSync(folder))
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|mts|tsx)$/.test(entry.name))
      .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name).replaceAll('\\', '/')),
  );
const problems = [];
const imports = new Map(files.map((file) => [file, []]));
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
    imports.get(file).push(to);
    const room = to.startsWith('src/') ? to.split('/')[1] : to.startsWith('sim/') ? 'sim' : null;
    if (owner !== null && !(isTest && (room === 'core' || to.startsWith('test/'))) && !mayImport(owner, room))
      problems.push(`${file}: ${owner} may not import ${to}`);
    if (['files', 'native'].includes(room) && !isTest && isBrowserSafe(file))
      problems.push(`${file}: ${to} is not browser-safe`);
    if (file.startsWith('web/') && room !== null && !WEB_MAY_IMPORT.some((p) => to.startsWith(p)))
      problems.push(`${file}: the page may not import ${to}`);
    if (!isTest && owner !== null && isEntry(to))
      problems.push(`${file}: plug-ins are found by name, not imported (${to})`);
    if (!isTest && pluginOf(file) && pluginOf(to) && pluginOf(file) !== pluginOf(to))
      problems.push(`${file}: a plug-in may not import another (${to})`);
  }
  if (TIMELESS.includes(owner) && !isTest && !OWN_TIMERS.some((p) => file.startsWith(p)))
    for (const [word] of text.matchAll(
      /\b(Date\.now|new Date\(\)|setTimeout|setInterval|Math\.random|performance\.now)\b/g,
    ))
      problems.push(`${file}: ${word} in a room that gets time and randomness passed in`);
  const lines = text.split('\n').length;
  if (lines > 500) problems.push(`${file}: ${lines} lines; files stay under 500`);
}

const composing = files.filter((file) => file.startsWith('src/app/')).length;
if (composing > MAX_COMPOSING_FILES)
  problems.push(
    `src/app: ${composing} files, more than ${MAX_COMPOSING_FILES}: it only composes; what it computes belongs to a room`,
  );

for (const cycle of cyclesIn(imports)) problems.push(`import cycle: ${cycle.join(', ')}`);
const inFolder = (file) => (existsSync(`${pluginOf(file)}/index.ts`) ? pluginOf(file) : undefined);
problems.push(
  ...namesakesIn(
    files.filter((file) => file.startsWith('src/')),
    inFolder,
  ),
);
for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${problems.length} boundary problems`);
process.exit(problems.length === 0 ? 0 : 1);
