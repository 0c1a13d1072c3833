import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { absent } from './needs.ts';

const root = path.join('dist', 'web');
const MAX_BYTES = 1e6;
/** Needed before the first page works. */
const MAX_FIRST_BYTES = 250e3;

const gzipped = (name: string): number => gzipSync(readFileSync(path.join(root, name))).length;

describe('the built console', {
  skip: existsSync(root) ? false : absent('dist/web', 'node scripts/ensure.mjs', true),
}, () => {
  it('is under 1 MB gzipped', (context) => {
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.\w+$/.test(name),
    );
    const bytes = names.map(gzipped).reduce((sum, size) => sum + size, 0);
    context.diagnostic(`${names.length} files, ${Math.round(bytes / 1e3)} kB gzipped`);
    assert.ok(bytes < MAX_BYTES, `${bytes} bytes`);
  });

  it('loads at most 250 kB for the first page, and other pages on demand', (context) => {
    const html = readFileSync(path.join(root, 'index.html'), 'utf8');
    const named = [...html.matchAll(/(?:src|href)="\.?\/([\w./-]+\.(?:js|css))"/g)].map((match) => match[1]!);
    assert.ok(named.length >= 3, named.join(' '));
    const bytes = named.map(gzipped).reduce((sum, size) => sum + size, gzipped('index.html'));
    context.diagnostic(`${named.length} files, ${Math.round(bytes / 1e3)} kB gzipped at first`);
    assert.ok(bytes < MAX_FIRST_BYTES, `${bytes} bytes`);
    for (const name of named.filter((file) => file.endsWith('.js')))
      assert.ok(
        !readFileSync(path.join(root, name), 'utf8').includes('Check this machine'),
        `${name} is lazy`,
      );
  });
});
