// Finds headings whose section contains all words; those with the words in the title come first.
const [input, found] = [document.getElementById('search'), document.getElementById('found')];
const MOST = 20;

function score(entry, words) {
  const [title, text] = [`${entry.page} ${entry.title}`.toLowerCase(), entry.text.toLowerCase()];
  let sum = 0;
  for (const word of words) {
    if (title.includes(word)) sum += 10;
    else if (text.includes(word)) sum += 1;
    else return 0;
  }
  return sum;
}

function excerpt(text, word) {
  const at = text.toLowerCase().indexOf(word) - 60;
  const from = at <= 0 ? 0 : text.indexOf(' ', at) + 1;
  const part = text.slice(from, from + 160);
  return from + 160 < text.length ? `${part.replace(/\s\S*$/, '')} …` : part;
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const best = ENTRIES.map((entry) => ({ entry, points: words.length === 0 ? 0 : score(entry, words) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, MOST);
  found.replaceChildren(
    ...best.map(({ entry }) => {
      const [item, link, text] = ['li', 'a', 'p'].map((name) => document.createElement(name));
      link.href = `${ROOT}/${entry.href}`;
      link.textContent = entry.page === entry.title ? entry.title : `${entry.page}: ${entry.title}`;
      text.textContent = excerpt(entry.text, words[0]);
      item.append(link, text);
      return item;
    }),
  );
  found.hidden = words.length === 0;
  if (words.length > 0 && best.length === 0) found.textContent = 'Nothing found.';
}

input.addEventListener('input', show);
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target === input) return;
  event.preventDefault();
  input.focus();
});
