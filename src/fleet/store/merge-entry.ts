import type { Recording } from '../recordings.ts';

/**
 * An entry of the index after somebody other than its author changed it: task and label are open to
 * everybody, places are added. Null: it describes another file, which only the author may do.
 */
export function mergeEntry(known: Recording, changed: Recording): Recording | null {
  if (known.sha256 !== changed.sha256 || known.sizeBytes !== changed.sizeBytes) return null;
  const added = changed.places.filter(({ where }) => known.places.every((place) => place.where !== where));
  const { task, label, atRobot } = changed;
  return { ...known, task, label, atRobot, places: [...known.places, ...added].slice(0, MOST_PLACES) };
}

const MOST_PLACES = 16;
