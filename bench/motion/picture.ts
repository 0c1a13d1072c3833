import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { HAND_HZ, wantedOf } from './hand-script.ts';
import type { Judged, JudgeSettings } from './judge.ts';
import type { Motion } from './motions.ts';
import { add, pose, type Vec } from './screw-kinematics.ts';

export interface Scene {
  title: string;
  motion: Motion;
  settings: JudgeSettings;
  runs: Record<string, readonly Judged[]>;
}

const SIZE = 320;
const EDGE = 28;
const COLOURS = ['#0a7d4f', '#d4452c', '#7a4fd4'];
/** Every n-th cycle is enough for a picture. */
const EVERY = 3;
const VIEWS = [
  { name: 'front (left, up)', of: ([, y, z]: Vec) => [-y!, z!] },
  { name: 'side (ahead, up)', of: ([x, , z]: Vec) => [x!, z!] },
] as const;

/** Draws where the hand asked the tool to be, and where it was, seen from the operator and from the side. */
export function picture(file: string, { title, motion, settings, runs }: Scene): void {
  const { arm, lead, homeRad, scale } = settings;
  const home = pose(arm, homeRad).frames[lead]!.p;
  const at = wantedOf(motion.samples, scale);
  const fromS = (motion.segments[0]?.fromS ?? 0) - 0.05;
  const hand = motion.samples
    .filter(({ tS }) => tS > fromS)
    .map(({ tS }) => add(home, at(tS + 0.5 / HAND_HZ)));
  const tools = Object.entries(runs).map(([name, cycles]) => ({
    name,
    points: cycles
      .filter(({ tS }, i) => tS > fromS && i % EVERY === 0)
      .map(({ targetRad }) => pose(arm, targetRad).frames[lead]!.p),
  }));
  const panels = VIEWS.map(({ name, of }, n) => {
    const all = [...hand, ...tools.flatMap(({ points }) => points)].map(of);
    const fit = fitted(all, n * SIZE);
    const line = (points: readonly Vec[], colour: string, width: number) =>
      `<polyline fill="none" stroke="${colour}" stroke-width="${width}" points="${thinned(points.map((p) => fit.map(of(p))))}"/>`;
    return [
      `<text x="${n * SIZE + EDGE}" y="${SIZE + 40}" font-size="12">${name}; bar: 5 cm</text>`,
      `<path d="M${n * SIZE + EDGE} ${SIZE + 20}h${fit.perM * 0.05}" stroke="#333" stroke-width="2"/>`,
      line(hand, '#9aa4ad', 4),
      ...tools.map(({ points }, k) => line(points, COLOURS[k]!, 1.4)).reverse(),
    ].join('\n');
  });
  const legend = ['hand', ...tools.map(({ name }) => name)]
    .map((name, k) => `<tspan fill="${k === 0 ? '#9aa4ad' : COLOURS[k - 1]}"> ■ ${name}</tspan>`)
    .join('');
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${2 * SIZE} ${SIZE + 52}" font-family="sans-serif">
<title>Paths of hand and tool</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="${EDGE}" y="18" font-size="14">${title} <tspan font-size="12">${legend}</tspan></text>
${panels.join('\n')}
</svg>
`;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, svg);
}

function fitted(points: readonly Vec[], left: number) {
  const side = (k: number) => {
    const values = points.map((p) => p[k]!);
    return [Math.min(...values), Math.max(...values)] as const;
  };
  const [[x0, x1], [y0, y1]] = [side(0), side(1)];
  const perM = (SIZE - 2 * EDGE) / Math.max(0.05, x1 - x0, y1 - y0);
  const map = ([x, y]: Vec) => [
    left + SIZE / 2 + perM * (x! - (x0 + x1) / 2),
    EDGE / 2 + SIZE / 2 - perM * (y! - (y0 + y1) / 2),
  ];
  return { perM, map };
}

/** Points of a line that are a tenth of a pixel apart, as text. */
function thinned(points: readonly number[][]): string {
  const kept: string[] = [];
  let last: number[] | null = null;
  for (const p of points) {
    if (last !== null && Math.hypot(p[0]! - last[0]!, p[1]! - last[1]!) < 0.3) continue;
    kept.push(`${p[0]!.toFixed(1)},${p[1]!.toFixed(1)}`);
    last = p;
  }
  return kept.join(' ');
}
