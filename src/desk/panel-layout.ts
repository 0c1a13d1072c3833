/** The panels of the Operate page that a person may hide or move; the robot’s state and the e-stop always stay in place. */
export const PANELS = [
  'cameras',
  'task',
  'record',
  'input',
  'fingers',
  'motors',
  'latency',
  'plots',
] as const;
export type PanelName = (typeof PANELS)[number];

/** Over the view is for cameras only. */
const DOCKS = ['right', 'left', 'below', 'view'] as const;
export type Dock = (typeof DOCKS)[number];

export interface PanelPlace {
  panel: PanelName;
  dock: Dock;
  shown: boolean;
}

/** In the order in which a dock shows them. */
export type PanelLayout = readonly PanelPlace[];

export const docksOf = (panel: PanelName): readonly Dock[] =>
  panel === 'cameras' ? ['view', 'right', 'left', 'below'] : ['right', 'left', 'below'];

export const DEFAULT_LAYOUT: PanelLayout = PANELS.map((panel) => ({
  panel,
  dock: docksOf(panel)[0]!,
  shown: panel !== 'plots',
}));

/** Reads what a browser remembered, perhaps from another version: what it does not know stays as by default. */
export function parseLayout(text: string | null): PanelLayout {
  const places = listOf(text).flatMap((value) => placeOf(value) ?? []);
  const known = places.filter(({ panel }, i) => places.findIndex((place) => place.panel === panel) === i);
  const missing = DEFAULT_LAYOUT.filter(({ panel }) => !known.some((place) => place.panel === panel));
  return [...known, ...missing];
}

function listOf(text: string | null): unknown[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function placeOf(value: unknown): PanelPlace | null {
  const { panel, dock, shown } = (value ?? {}) as Partial<Record<keyof PanelPlace, unknown>>;
  const named = PANELS.find((each) => each === panel);
  const at = named && docksOf(named).find((each) => each === dock);
  return named && at && typeof shown === 'boolean' ? { panel: named, dock: at, shown } : null;
}

export const changed = (layout: PanelLayout, panel: PanelName, change: Partial<PanelPlace>): PanelLayout =>
  layout.map((place) => (place.panel === panel ? { ...place, ...change } : place));

/** One place up (−1) or down (1) among the panels of its dock. */
export function moved(layout: PanelLayout, panel: PanelName, by: -1 | 1): PanelLayout {
  const from = layout.findIndex((place) => place.panel === panel);
  const { dock } = layout[from]!;
  let to = from + by;
  while (layout[to] !== undefined && layout[to]!.dock !== dock) to += by;
  const other = layout[to];
  if (other === undefined) return layout;
  return layout.map((place, i) => (i === from ? other : i === to ? layout[from]! : place));
}
