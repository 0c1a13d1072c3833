import { element } from '../dom.ts';

export const PAGES = ['operate', 'latency', 'record', 'devices'] as const;
export type PageName = (typeof PAGES)[number];

const TITLES: Record<PageName, string> = {
  operate: 'Operate',
  latency: 'Latency',
  record: 'Record',
  devices: 'Devices',
};

/**
 * One page is shown at a time; all stay in the document, so that a hidden one loses nothing. The address has the page
 * after `#/`, so that back, forward and bookmarks work without the server.
 */
export class Router {
  #page: PageName = 'operate';
  readonly #onEnter: (page: PageName, isFirst: boolean) => void;

  constructor(onEnter: (page: PageName, isFirst: boolean) => void) {
    this.#onEnter = onEnter;
    window.addEventListener('hashchange', () => this.#follow(false));
  }

  get page(): PageName {
    return this.#page;
  }

  start(): void {
    this.#follow(true);
  }

  #follow(isFirst: boolean): void {
    const name = location.hash.replace(/^#\/?/, '').split('/')[0];
    this.#page = PAGES.find((page) => page === name) ?? 'operate';
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
