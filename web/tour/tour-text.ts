import { BAD_NETWORK, type Tour, type TourStep } from '../../src/desk/tour.ts';
import { milliseconds } from '../panels/labels.ts';

export interface StepText {
  title: string;
  text: string;
  /** Ids of the controls that the step needs. */
  targets: readonly string[];
}

const isTouch = matchMedia('(pointer: coarse)');

const TEXTS: Record<Exclude<TourStep, 'smooth'>, StepText> = {
  watch: {
    title: 'Watch',
    text: 'A program, the expert, drives and picks up a cube. The arm is drawn as measured, and in purple where it was sent.',
    targets: ['scene'],
  },
  'take-over': {
    title: 'Take over',
    text: 'Press Keyboard. Then hold Shift and press W, A, S or D: the arm follows.',
    targets: ['inputs', 'drive'],
  },
  place: {
    title: 'Place a cube',
    text: 'One cube, no hurry. Go over it, down, grip; lift it, go over the tray, let go.',
    targets: ['drive', 'task'],
  },
  shake: {
    title: 'Feel bad Wi-Fi',
    text: 'Choose the network “Wi-Fi, untuned” and smoothing “None”. Then drive for three seconds: the arm jerks.',
    targets: ['link-controls'],
  },
  record: {
    title: 'Record',
    text: 'Press N, move the arm, and press N again to keep the recording.',
    targets: ['record'],
  },
  play: { title: 'Play it back', text: 'Open your recording and press Play.', targets: ['playback'] },
};

const TOUCH_TEXTS: Partial<Record<TourStep, string>> = {
  'take-over': 'Press Touch pads. Then drag in the pad: the arm follows your finger.',
  place: 'One cube, no hurry. Go over it, down, grip; lift it, go over the tray, let go.',
  record: 'Press Start, move the arm, and press Keep.',
};

export function textOf(tour: Tour, step: TourStep, network: string): StepText {
  if (step === 'smooth') return smoothText(tour, network);
  const touch = isTouch.matches ? TOUCH_TEXTS[step] : undefined;
  return { ...TEXTS[step], ...(touch !== undefined && { text: touch }) };
}

function smoothText(tour: Tour, network: string): StepText {
  const before = tour.variationMs('shake');
  const measured =
    before === null ? '' : ` From command to command the delay varied by ${milliseconds(before, 0)} ms.`;
  return {
    title: 'Smooth it',
    text: `Choose ${network === BAD_NETWORK ? '' : 'the network “Wi-Fi, untuned” and '}smoothing “Adaptive”, then drive for three seconds.${measured}`,
    targets: ['link-controls'],
  };
}

export function endText(tour: Tour): string {
  const [before, after] = [tour.variationMs('shake'), tour.variationMs('smooth')];
  const seconds = Math.round(tour.tookS);
  const took = `That took ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}.`;
  if (before === null || after === null) return took;
  const [rough, smooth] = [milliseconds(before, 0), milliseconds(after, 0)];
  if (after >= before)
    return `${took} The delay varied by ${rough} ms without smoothing and by ${smooth} ms with it: this computer is too busy to show the difference.`;
  return `${took} On the same bad Wi-Fi, the delay varied by ${rough} ms without smoothing and by ${smooth} ms with it.`;
}
