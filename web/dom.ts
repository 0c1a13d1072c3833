/** The element with this id. Throws when it is missing or of another class, which is a bug. */
export function element<T extends Element>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return found;
}

/** Writes only on change: 30 messages a second must not cause layout. */
export function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node: Element, name: string, value: string): void {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

export function create(tag: string, className = '', text = ''): HTMLElement {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return node;
}

/** Calls `act` at most once per `intervalMs`, by the time the caller passes. */
export function atMostEvery(intervalMs: number, act: () => void): (nowMs: number) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (nowMs) => {
    if (nowMs - lastMs < intervalMs) return;
    lastMs = nowMs;
    act();
  };
}
