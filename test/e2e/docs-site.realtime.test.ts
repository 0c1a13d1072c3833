import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

const SITE = path.join('dist', 'site');

describe('the documentation site', () => {
  it('is built from the pages; every link leads to a file and a heading', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/docs-site.mjs'], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const pages = readdirSync(SITE, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.html'),
    );
    const texts = new Map(
      pages.map((page) => [path.join(SITE, page), readFileSync(path.join(SITE, page), 'utf8')]),
    );
    const wrong: string[] = [];
    for (const [page, text] of texts)
      for (const [, href = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
        if (/^[a-z]+:/.test(href)) continue;
        const [file = '', anchor] = href.split('#');
        const to = file === '' ? page : path.join(path.dirname(page), file);
        const isThere =
          existsSync(to) && (anchor === undefined || texts.get(to)?.includes(`id="${anchor}"`) !== false);
        if (!isThere) wrong.push(`${page}: ${href}`);
      }
    assert.deepEqual(wrong, []);
    const entries = readFileSync(path.join(SITE, 'search-entries.js'), 'utf8');
    assert.match(entries, /"title":"Five minutes"/);
    assert.match(entries, /watchdog/);
  });
});
