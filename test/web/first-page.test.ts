import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { webRoot } from '../../src/http/static-files.ts';

/** After gzip: the page without the 3D library, and with it. */
const MAX_BYTES = 120_000;
const MAX_WITH_3D_BYTES = 260_000;

/** A page and everything it loads before it shows: its scripts with their static imports, and its styles. */
function filesOf(page: string): Set<string> {
  const root = webRoot();
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    if (!file.endsWith('.js')) return;
    const text = readFileSync(file, 'utf8');
    for (const [, name] of text.matchAll(/(?:\bfrom|\bimport)\s*["'`](\.\/[\w.-]+\.js)["'`]/g))
      visit(path.resolve(path.dirname(file), name!));
  };
  visit(path.join(root, page));
  const html = readFileSync(path.join(root, page), 'utf8');
  for (const [, name] of html.matchAll(/(?:src|href)="\.?\/?((?:assets\/)?[\w.-]+\.(?:js|css))"/g))
    visit(path.join(root, name!));
  // The start script imports the page itself.
  for (const name of readdirSync(path.join(root, 'assets')))
    if (/^main-.*\.js$/.test(name)) visit(path.join(root, 'assets', name));
  return found;
}

it('the first page is small, and loads no mesh reader, tour or plots before somebody needs them', () => {
  const files = [...filesOf('index.html')];
  const names = files.map((file) => path.basename(file)).join(' ');
  assert.match(names, /three\.module/, 'static imports are found');
  assert.doesNotMatch(names, /Loader-|tour-card|live-plots|panels-menu|page-/);
  const bytesOf = (some: readonly string[]) =>
    some.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
  const own = bytesOf(files.filter((file) => !path.basename(file).startsWith('three.')));
  assert.ok(own <= MAX_BYTES, `${own} bytes without the 3D library: ${names}`);
  const whole = bytesOf(files);
  assert.ok(whole <= MAX_WITH_3D_BYTES, `${whole} bytes: ${names}`);
});
