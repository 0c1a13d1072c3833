/** What lies over the view, from its top and from its bottom. */
export interface Covered {
  topPx: number;
  bottomPx: number;
}

/** Of the view's height, at most. */
const MOST = 0.3;

/** The tools above the view and the cameras in it; cameras that cover less than half of the width count less. */
export function coveredOf(canvas: HTMLElement): Covered {
  const view = canvas.getBoundingClientRect();
  const most = MOST * view.height;
  const top = canvas.parentElement?.querySelector('.stage-top')?.getBoundingClientRect();
  const cameras = canvas.parentElement?.querySelector(':scope > .cameras')?.getBoundingClientRect();
  const topPx = top && top.height > 0 ? top.bottom - view.top : 0;
  const bottomPx =
    cameras && cameras.height > 0
      ? (view.bottom - cameras.top) * Math.min(1, (2 * cameras.width) / view.width)
      : 0;
  return { topPx: Math.min(most, topPx), bottomPx: Math.min(most, bottomPx) };
}
