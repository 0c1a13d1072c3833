// Builds the documentation as a static site with a search that works offline: npm run docs, then open dist/site/index.html.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Marked } from 'marked';

const OUT = path.join('dist', 'site');
const HOME = 'README.md';
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const pages = ['.', 'docs', 'protocol', 'examples', 'python']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: folder !== '.', encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => path.posix.join(folder, name.replaceAll('\\', '/'))),
  )
  .sort();

const slug = (heading) =>
  heading
    .toLowerCase()
    .replace(/<[^>]*>|&(?:[a-z]+|#\d+);/g, '')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const target = (page) => (page === HOME ? 'index.html' : page.replace(/\.md$/, '.html'));
const between = (from, to) => path.posix.relative(path.posix.dirname(target(from)), to);

/** Links between pages become links between files of the site; links to other files show the file's text. */
const files = new Set();
function linkTo(page, href) {
  if (/^[a-z]+:|^#/.test(href)) return href;
  const [file, anchor] = href.split('#');
  const to = path.posix.normalize(path.posix.join(path.posix.dirname(page), file));
  const isPage = pages.includes(to);
  if (!isPage) files.add(to);
  return between(page, isPage ? target(to) : to) + (anchor === undefined ? '' : `#${anchor}`);
}

/** One entry per heading: what the search looks through. */
const entries = [];
function rendered(page) {
  const text = readFileSync(page, 'utf8');
  const title = (/^# (.+)$/m.exec(text)?.[1] ?? page).replaceAll('`', '');
  const own = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const inner = this.parser.parseInline(tokens);
        own.push({
          page: title,
          href: `${target(page)}#${slug(inner)}`,
          title: inner.replace(/<[^>]*>/g, ''),
          text: '',
        });
        return `<h${depth} id="${slug(inner)}">${inner}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${escaped(linkTo(page, href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text: alt }) {
        return `<img src="${escaped(linkTo(page, href))}" alt="${escaped(alt)}">`;
      },
    },
  });
  const body = marked.parse(text);
  sections(text).forEach((section, i) => {
    if (own[i]) own[i].text = section;
  });
  entries.push(...own);
  return { title, body };
}

/** The words under each heading, in order. */
const sections = (text) =>
  text
    .replace(/^ *```.*$/gm, '')
    .split(/^#+ .+$/m)
    .slice(1)
    .map((part) =>
      part
        .replace(/[|`*[\]()#]/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    );

const shell = (page, { title, body }) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Farhand</title>
<link rel="stylesheet" href="${between(page, 'site.css')}">
<header>
  <a href="${between(page, 'index.html')}"><b>Farhand</b> ${version}</a>
  <a href="${between(page, 'docs/README.html')}">All pages</a>
  <label>Search <input id="search" type="search" autocomplete="off" placeholder="two or three words"></label>
</header>
<ol id="found" hidden></ol>
<main>
${body}</main>
<script>const ROOT = ${JSON.stringify(between(page, '.') || '.')};</script>
<script src="${between(page, 'search-entries.js')}"></script>
<script src="${between(page, 'search.js')}"></script>
</html>
`;

rmSync(OUT, { recursive: true, force: true });
for (const page of pages) {
  const file = path.join(OUT, target(page));
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, shell(page, rendered(page)));
}
for (const file of files) cpSync(file, path.join(OUT, file), { recursive: true });
for (const file of readdirSync(path.join('scripts', 'site')))
  cpSync(path.join('scripts', 'site', file), path.join(OUT, file));
writeFileSync(path.join(OUT, 'search-entries.js'), `const ENTRIES = ${JSON.stringify(entries)};\n`);
console.log(`${pages.length} pages, ${entries.length} headings: ${path.join(OUT, 'index.html')}`);
