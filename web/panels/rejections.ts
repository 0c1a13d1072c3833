import { create, element, setText } from '../dom.ts';

/** Rejected messages by reason, most frequent first. Reuses its rows, so an open drawer does not flicker. */
export class RejectionsDrawer {
  readonly #list = element('counters', HTMLElement);
  readonly #total = element('counters-total', HTMLElement);
  readonly #rows = new Map<string, HTMLElement>();
  #shape = '';

  update(counters: Record<string, number>): void {
    const entries = Object.entries(counters).filter(([, count]) => count > 0);
    entries.sort(([a, m], [b, n]) => n - m || a.localeCompare(b));
    let total = 0;
    for (const [, count] of entries) total += count;
    setText(this.#total, total.toLocaleString('en'));
    const shape = entries.map(([reason]) => reason).join(' ');
    if (shape !== this.#shape || this.#list.childElementCount === 0)
      this.#layOut(entries.map(([reason]) => reason));
    this.#shape = shape;
    for (const [reason, count] of entries) setText(this.#rows.get(reason)!, count.toLocaleString('en'));
  }

  #layOut(reasons: string[]): void {
    this.#rows.clear();
    const rows = reasons.map((reason) => {
      const row = create('li');
      const count = create('b');
      row.append(create('code', '', reason), count);
      this.#rows.set(reason, count);
      return row;
    });
    this.#list.replaceChildren(
      ...(rows.length > 0 ? rows : [create('li', 'muted', 'Nothing rejected yet.')]),
    );
  }
}
