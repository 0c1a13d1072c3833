/** A small curve of an episode's speed. */
export function Sparkline({ values }: { values: readonly number[] }) {
  const most = Math.max(0.1, ...values);
  const points = values.map((value, i) => `${i},${(12 * (1 - value / most)).toFixed(1)}`).join(' ');
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${Math.max(1, values.length - 1)} 12`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Speed over the episode, at most ${most.toFixed(1)} radians per second`}
    >
      <polyline points={points} />
    </svg>
  );
}
