import { isLight } from '../shell/theme.ts';

/** Display colours of the 3D scene. Keep them consistent with styles/theme.css. */
export interface Palette {
  ground: number;
  gridLine: number;
  gridStrong: number;
  shadow: number;
  shell: number;
  tube: number;
  collar: number;
  cap: number;
  fingers: number;
  ghost: number;
  hand: number;
  trail: number;
  skyLight: number;
  groundLight: number;
  /** Collision shapes: clear, near, touching. */
  clear: number;
  near: number;
  touching: number;
  table: number;
}

const DARK: Palette = {
  ground: 0x10151c,
  gridLine: 0x222b37,
  gridStrong: 0x334152,
  shadow: 0x06090d,
  shell: 0xd9dee3,
  tube: 0xb3bbc4,
  collar: 0x5d6874,
  cap: 0x5fa8dc,
  fingers: 0x3b444f,
  ghost: 0xb58cff,
  hand: 0xffb454,
  trail: 0x7cc4ff,
  skyLight: 0x7b8490,
  groundLight: 0x3f4854,
  clear: 0x4db3ff,
  near: 0xf5a524,
  touching: 0xf0525a,
  table: 0x141b24,
};

const LIGHT: Palette = {
  ...DARK,
  ground: 0xeef2f6,
  gridLine: 0xd9e0e8,
  gridStrong: 0xbcc7d3,
  shadow: 0xbcc6d1,
  shell: 0xe3e8ed,
  tube: 0xc9d0d7,
  collar: 0x76818d,
  cap: 0x3f93d2,
  ghost: 0x8250e0,
  hand: 0xe08600,
  trail: 0x1677c8,
  skyLight: 0x8b9299,
  groundLight: 0x666f79,
  clear: 0x1670bd,
  near: 0xd98200,
  touching: 0xc81e2b,
  table: 0xe4eaf0,
};

export function currentPalette(): Palette {
  return isLight() ? LIGHT : DARK;
}
