import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { REASONS } from '../src/core/counters.ts';
import { loadRig } from '../src/rig/rig.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

/** Everything written by hand, nothing installed or generated. */
const pages = ['.', 'docs', 'protocol'].flatMap((folder) =>
  readdirSync(folder, { recursive: folder !== '.', encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join(folder, name).replaceAll('\\', '/')),
);

const FENCE = /^ *```.*\n([\s\S]*?)^ *```$/gm;

/** Fenced blocks and code spans: what a reader may copy. */
function codeOf(text: string): string[] {
  const blocks = [...text.matchAll(FENCE)].map((match) => match[1]!);
  const spans = [...text.replace(FENCE, '').matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!);
  return [...blocks, ...spans];
}

const proseOf = (text: string): string => text.replace(FENCE, '').replace(/`[^`\n]*`/g, '');

function anchorsOf(text: string): string[] {
  const headings = [...text.replace(FENCE, '').matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );
}

for (const page of pages) {
  const text = read(page);
  const code = codeOf(text);
  const found = (pattern: RegExp): string[] =>
    code.flatMap((part) => [...part.matchAll(pattern)].map((match) => match[1]!));

  describe(page, () => {
    it('links to what exists', () => {
      for (const [, target = ''] of proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const [file = '', anchor] = target.split('#');
        const to = file === '' ? page : path.join(path.dirname(page), file);
        assert.ok(existsSync(to), `${target}: no such file`);
        if (anchor !== undefined)
          assert.ok(anchorsOf(read(to)).includes(anchor), `${target}: no such heading`);
      }
    });

    it('names files that exist', () => {
      const root =
        '(?:src|sim|web|test|bench|scripts|docs|protocol|rigs|robots|bin|templates|examples|deploy|python)';
      for (const name of found(new RegExp(`(?<![\\w./-])(${root}/[\\w./-]*\\w)(?![\\w/<*…-])`, 'g')))
        assert.ok(existsSync(name), `${name}: no such file`);
    });

    it('names verbs and scripts that exist', () => {
      const verbs = [...read('src/cli/verbs.ts').matchAll(/^ {2}(\w+): async \(\) =>/gm)].map((m) => m[1]!);
      assert.ok(verbs.includes('demo'), 'the list of verbs was found');
      verbs.push('help');
      for (const verb of found(/(?<![\w-])farhand ([a-z]\w*)/g))
        assert.ok(verbs.includes(verb), `farhand ${verb}`);
      const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
      for (const script of found(/\bnpm run (?:-\S+ )*([\w:-]+)/g))
        assert.ok(script in scripts, `npm run ${script}`);
    });

    it('sets existing settings to valid values', () => {
      for (const override of found(
        /(?<![\w.])((?:operator|link|robot|cameras|record|trace|console)(?:\.\w+)+=[^\s`,;)]+)/g,
      ))
        if (!/[<…]/.test(override)) assert.doesNotThrow(() => loadRig('demo', [override]), override);
    });
  });
}

describe('documentation', () => {
  it('has a troubleshooting entry per error code, and no other', () => {
    const union = /type ErrorCode =([^;]*);/.exec(read('src/core/errors.ts'))?.[1] ?? '';
    const codes = [...union.matchAll(/'([a-z-]+)'/g)].map((match) => match[1]!);
    const entries = [...read('docs/troubleshooting.md').matchAll(/^### `([a-z-]+)`$/gm)].map((m) => m[1]!);
    assert.ok(codes.length > 0);
    assert.deepEqual(entries.sort(), codes.sort());
  });

  it('explains every counted reason in the protocol', () => {
    const rows = [...read('protocol/SPEC.md').matchAll(/^\| `([a-z-]+)` \| (?:both|robot|operator) \|/gm)];
    assert.deepEqual(rows.map((row) => row[1]!).sort(), [...REASONS].sort());
  });

  it('lists every kind of message and every field of telemetry in protocol/console.md', () => {
    const page = read('protocol/console.md');
    const source = (name: string) => read(`src/messages/${name}.ts`);
    const files = [
      'telemetry',
      'recording',
      'console',
      'console-access',
      'desk-requests',
      'video-event',
      'pulse-event',
    ];
    const kinds = files.flatMap((name) =>
      [...source(name).matchAll(/\bkind: '([a-z-]+)'/g)].map((m) => m[1]!),
    );
    const telemetry = source('telemetry').split('/** Page → console')[0]!;
    const fields = [...telemetry.matchAll(/^ {2,4}(\w+)\??: /gm)].map((match) => match[1]!);
    assert.ok(kinds.length > 25 && fields.length > 60);
    for (const name of new Set([...kinds, ...fields])) assert.ok(page.includes(`\`${name}\``), name);
  });

  it('links every page once in docs/README.md', () => {
    const links = [...read('docs/README.md').matchAll(/\]\(([^)\s]+\.md)\)/g)].map((match) =>
      path.posix.join('docs', match[1]!),
    );
    const listed = pages.filter((page) => page !== 'docs/README.md');
    assert.deepEqual(links.sort(), listed.sort());
  });

  it('names the two commands and five tasks in README.md', () => {
    const readme = read('README.md');
    for (const command of ['npm start', 'npm test']) assert.match(readme, new RegExp(`^${command}\\b`, 'm'));
    assert.match(readme, /!\[[^\]]+\]\(docs\/images\/\w+\.png\)/);
    const tasks = /## Five tasks\n\n([\s\S]*?)\n\n/.exec(readme)?.[1] ?? '';
    assert.equal(tasks.match(/\]\(docs\/[\w-]+\.md\) \|$/gm)?.length, 5);
  });

  it('does not mention the machine it was written on', () => {
    for (const page of pages) assert.doesNotMatch(read(page), /\/(?:work|tmp|root)\//, page);
  });
});
