/** The element with this id, checked against its class: a missing one is our own bug. */
export function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`no ${kind.name} #${id} in the page`);
  return found;
}

/** Writes only on change, so that 30 messages a second cost no layout. */
export function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node: HTMLElement, name: string, value: string): void {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

export function create(tag: string, className = '', text = ''): HTMLElement {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return node;
}

/** Runs `act` at most once per `intervalMs`, by the time handed in. */
export function atMostEvery(intervalMs: number, act: () => void): (nowMs: number) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (nowMs) => {
    if (nowMs - lastMs < intervalMs) return;
    lastMs = nowMs;
    act();
  };
}
