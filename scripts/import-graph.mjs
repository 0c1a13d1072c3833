// Two rules for the project's files: their imports, type imports included, have no cycle, and no two files of
// neighbouring rooms share a name.
import path from 'node:path';

/** The cycles among `imports` (file → the files it imports), each as the list of its files. */
export function cyclesIn(imports) {
  const order = new Map();
  const low = new Map();
  const stack = [];
  const cycles = [];
  const visit = (file) => {
    order.set(file, order.size);
    low.set(file, order.get(file));
    stack.push(file);
    for (const to of imports.get(file) ?? []) {
      if (!imports.has(to)) continue;
      if (!order.has(to)) visit(to);
      if (stack.includes(to)) low.set(file, Math.min(low.get(file), low.get(to)));
    }
    if (low.get(file) !== order.get(file)) return;
    const found = stack.splice(stack.indexOf(file));
    if (found.length > 1 || imports.get(file).includes(file)) cycles.push(found.sort());
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return cycles;
}

/**
 * Files that share a name with a neighbour: one of the same room, or of `app`. A plug-in's folder counts as its
 * own room, so that every plug-in may have its `index.ts`, `config.ts` and `codec.ts`.
 */
export function namesakesIn(files, pluginFolderOf) {
  const places = new Map();
  const problems = [];
  for (const file of files) {
    const room = pluginFolderOf(file) ?? file.split('/')[1];
    const name = path.posix.basename(file);
    const before = places.get(name) ?? [];
    const twin = before.find((each) => each.room === room || each.room === 'app' || room === 'app');
    if (twin !== undefined) problems.push(`${file} has the same name as ${twin.file}`);
    places.set(name, [...before, { file, room }]);
  }
  return problems;
}
