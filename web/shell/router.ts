import { element } from '../dom.ts';

export const PAGES = ['fleet', 'operate', 'latency', 'record', 'devices'] as const;
export type PageName = (typeof PAGES)[number];

/** Pages of a console with one operator. */
export const OPERATOR_PAGES = ['operate', 'latency', 'record', 'devices'] as const;

const TITLES: Record<PageName, string> = {
  fleet: 'Fleet',
  operate: 'Operate',
  latency: 'Latency',
  record: 'Record',
  devices: 'Devices',
};

/**
 * Shows one page at a time. All pages stay in the document, so a hidden page keeps its state. The page name follows `#/`
 * in the address, so back, forward and bookmarks work without the server.
 */
export class Router {
  #page: PageName = 'operate';
  readonly #onEnter: (page: PageName, isFirst: boolean) => void;
  readonly #offered: readonly PageName[];

  /** `offered`: the pages this console has. */
  constructor(onEnter: (page: PageName, isFirst: boolean) => void, offered: readonly PageName[]) {
    this.#onEnter = onEnter;
    this.#offered = offered;
    for (const tab of document.querySelectorAll<HTMLAnchorElement>('.tabs a'))
      tab.hidden = !offered.some((page) => page === tab.dataset['page']);
    window.addEventListener('hashchange', () => this.#navigate(false));
  }

  get page(): PageName {
    return this.#page;
  }

  start(): void {
    this.#navigate(true);
  }

  #navigate(isFirst: boolean): void {
    const name = location.hash.replace(/^#\/?/, '').split('/')[0];
    const first = this.#offered.includes('operate') ? 'operate' : 'fleet';
    this.#page = this.#offered.find((page) => page === name) ?? first;
    for (const page of PAGES) element(`page-${page}`, HTMLElement).hidden = page !== this.#page;
    for (const tab of document.querySelectorAll<HTMLAnchorElement>('.tabs a')) {
      if (tab.dataset['page'] === this.#page) tab.setAttribute('aria-current', 'page');
      else tab.removeAttribute('aria-current');
    }
    document.title = `${TITLES[this.#page]} · Farhand console`;
    document.body.dataset['page'] = this.#page;
    this.#onEnter(this.#page, isFirst);
  }
}
