import { JOINT_NAMES } from '../../src/robot/drivers/bento/arm-facts.ts';
import type { Body, Shape, Vector } from './bento-view.ts';

const DARK = '#2b313a';
const SERVO = '#171b21';
const SHELL = '#d8dde3';
const ACCENT = '#3f8fd2';
const WOOD = '#c59a62';
const ALUMINIUM = '#aeb6bf';
const ACROSS: Vector = [Math.PI / 2, 0, 0];
const ALONG: Vector = [0, Math.PI / 2, 0];

/** Mass of an arm shape in kilograms: some inertia for the solver. */
const LINK_KG = 0.05;

const box = (halfM: Vector, atM: Vector, colour: string, more: Partial<Shape> = {}): Shape => ({
  kind: 'box',
  sizeM: halfM,
  atM,
  colour,
  massKg: LINK_KG,
  ...more,
});
const drum = (radiusM: number, halfM: number, atM: Vector, eulerRad: Vector, colour: string): Shape => ({
  kind: 'cylinder',
  sizeM: [radiusM, halfM],
  atM,
  eulerRad,
  colour,
  massKg: LINK_KG,
});

const table: Body = {
  name: 'table',
  atM: [0, 0, 0],
  shapes: [
    box([0.3, 0.406, 0.02], [0.293, 0, -0.02], WOOD, { massKg: 0 }),
    box([0.19, 0.38, 0.0006], [0.311, 0, 0.0002], '#e9e4d8', { only: 'drawn' }),
  ],
};

const stand: Body = {
  name: 'stand',
  atM: [0, 0, 0],
  shapes: [
    box([0.02, 0.127, 0.01], [0.0, 0, 0.01], ALUMINIUM, { only: 'drawn' }),
    box([0.0127, 0.0127, 0.15], [0.0, 0.05, 0.17], ALUMINIUM, { only: 'drawn' }),
    box([0.0127, 0.0127, 0.15], [0.0, -0.05, 0.17], ALUMINIUM, { only: 'drawn' }),
    box([0.0127, 0.08, 0.0127], [0.0, 0, 0.31], ALUMINIUM, { only: 'drawn' }),
    box([0.065, 0.0127, 0.0127], [0.055, 0, 0.31], ALUMINIUM, { only: 'drawn' }),
    { ...drum(0.034, 0.026, [0.1006, 0, 0.271], [0, 0, 0], SERVO), only: 'drawn' },
  ],
};

/** Lengths from the Virtual Bento's project; the shapes around them are ours. */
const links: readonly Body[] = [
  {
    name: 'shoulder',
    atM: [0.1006, 0, 0.218],
    axis: [0, 0, -1],
    shapes: [
      drum(0.03, 0.012, [0, 0, 0.012], [0, 0, 0], ACCENT),
      box([0.03, 0.03, 0.036], [0.004, 0, -0.036], SHELL),
      box([0.022, 0.026, 0.02], [0.02, 0, -0.0885], SERVO),
    ],
  },
  {
    name: 'elbow',
    parent: 'shoulder',
    atM: [0.0306, 0, -0.0937],
    axis: [0, -1, 0],
    shapes: [
      drum(0.024, 0.032, [0, 0, 0], ACROSS, ACCENT),
      { ...drum(0.03, 0.048, [0.072, 0, 0], ALONG, SHELL), kind: 'capsule', sizeM: [0.029, 0.04] },
      box([0.018, 0.018, 0.024], [0.132, 0, -0.006], SERVO),
    ],
  },
  {
    name: 'wrist_rotate',
    parent: 'elbow',
    atM: [0.1533, 0, 0],
    axis: [1, 0, 0],
    shapes: [
      drum(0.022, 0.006, [0.002, 0, 0], ALONG, ACCENT),
      box([0.018, 0.019, 0.017], [0.026, 0, 0], SERVO),
    ],
  },
  {
    name: 'wrist_flex',
    parent: 'wrist_rotate',
    atM: [0.0406, 0, 0],
    axis: [0, -1, 0],
    shapes: [
      drum(0.012, 0.026, [0, 0, 0], ACROSS, ACCENT),
      box([0.034, 0.022, 0.016], [0.042, -0.004, 0], SHELL),
      box([0.024, 0.016, 0.021], [0.07, -0.002, 0], SERVO),
      finger([0.135, -0.017, 0], -1),
    ],
  },
  {
    name: 'hand',
    parent: 'wrist_flex',
    atM: [0.0838, 0, 0],
    axis: [0, 0, 1],
    shapes: [
      { ...drum(0.014, 0.024, [0, 0, 0], [0, 0, 0], ACCENT), only: 'drawn' },
      box([0.013, 0.012, 0.013], [0.012, 0.014, 0], DARK, { only: 'drawn' }),
      finger([0.053, 0.0155, 0], 1),
    ],
  },
];

/** A flat finger 106 mm long, its inner face 5.5 mm from its centre; the left one leans in. */
function finger(atM: Vector, side: 1 | -1): Shape {
  const leanRad = side === 1 ? -0.12 : 0;
  return box([0.053, 0.0055, 0.013], atM, DARK, { eulerRad: [0, 0, leanRad] });
}

export const ARM: readonly Body[] = [table, stand, ...links];
export const ARM_JOINTS = JOINT_NAMES;
