import { clutchAdvice } from '../../src/desk/clutch-advice.ts';
import type { RecorderStatus } from '../../src/messages/recording.ts';
import type { Telemetry, WorldTelemetry } from '../../src/messages/telemetry.ts';
import { TASKS } from '../../src/world/task-list.ts';
import { scoreText, timeText } from '../operate/task-text.ts';
import { limitText } from '../panels/labels.ts';
import { drawPose } from '../view/pose-picture.ts';
import { Board } from './board.ts';
import type { MeasureGuide } from './headset-measure.ts';

export interface HudState {
  telemetry: Telemetry | null;
  fresh: boolean;
  inControl: boolean;
  holder: string | null;
  over: string;
  rttMs: number | null;
  tracked: boolean;
  /** Tracked hands, no controllers. */
  isBare: boolean;
  stopping: boolean;
  /** Recordings kept since the page was opened. */
  kept: number;
  /** Replaces the state while the wearer's hand is measured. */
  guide: MeasureGuide | null;
}

const TONES: Record<string, string> = {
  engaged: '#3fc46b',
  armed: '#62b0f0',
  hold: '#f5a524',
  stopped: '#f0525a',
};
/** The wearer's own doing: the advice says more. */
const OPEN_CLUTCH = ['tracking lost', 'clutch released'];
const GUIDE_TONE = '#62b0f0';
const WINDOW = 300;

/** A board with state, cause, latency and the main reason why the robot does not follow. */
export class Hud {
  readonly board = new Board(1.1, 0.5, 600);
  /** What prevents the robot from following, as shown. */
  advice = '';
  readonly #oneWayMs: number[] = [];
  #drawn = '';

  /** From each telemetry message. */
  add({ closed }: Telemetry): void {
    for (const { oneWayMs } of closed) if (oneWayMs !== null) this.#oneWayMs.push(oneWayMs);
    if (this.#oneWayMs.length > WINDOW) this.#oneWayMs.splice(0, this.#oneWayMs.length - WINDOW);
  }

  draw(hud: HudState): void {
    const { telemetry, fresh } = hud;
    const state = fresh ? (telemetry?.robot?.state ?? 'disconnected') : 'no telemetry';
    if (hud.guide !== null) return this.#guide(hud.guide);
    this.advice = problem(hud);
    const lines = [
      state.toUpperCase(),
      fresh ? causeOf(hud) : 'the console sends no telemetry',
      this.advice,
      this.#latency(hud),
      ...(fresh && telemetry?.world ? [taskText(telemetry.world)] : []),
      ...(fresh && telemetry?.record ? [recordText(telemetry.record, hud.kept)] : []),
    ];
    const text = lines.join('\n');
    if (text === this.#drawn) return;
    this.#drawn = text;
    this.#paint(lines, TONES[state] ?? '#8794a4');
  }

  #guide({
    lines: [title = '', prompt = '', trouble = '', countdown = ''],
    pose,
    isLeft,
  }: MeasureGuide): void {
    const text = [title, prompt, trouble, countdown, isLeft].join('\n');
    if (text === this.#drawn) return;
    this.#drawn = text;
    const { context, height, width } = this.board;
    const textWidth = pose === null ? width - 50 : width - height - 40;
    this.#clear(GUIDE_TONE);
    this.#line(title, 16, 56, GUIDE_TONE, textWidth);
    const prompts = wrapped(context, prompt, 34, textWidth);
    for (const [i, part] of prompts.entries()) this.#line(part, 88 + 42 * i, 34, '#e8edf3', textWidth);
    this.#line(trouble, 214, 28, '#f5a524', textWidth);
    this.#line(countdown, 254, 30, '#b4bfcc', textWidth);
    const box = { x: width - height, y: 10, width: height - 20, height: height - 20 };
    if (pose !== null) drawPose(context, pose, isLeft, box, GUIDE_TONE);
    this.board.show();
  }

  #latency({ over, rttMs }: HudState): string {
    const sorted = this.#oneWayMs.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]?.toFixed(0) ?? '–';
    return `one-way ${at(0.5)} ms, p95 ${at(0.95)} ms · ${over} ${rttMs?.toFixed(0) ?? '–'} ms`;
  }

  #paint([state = '', cause = '', warning = '', ...rest]: string[], tone: string): void {
    this.#clear(tone);
    this.#line(state, 16, 66, tone);
    this.#line(cause, 92, 30, '#b4bfcc');
    this.#line(warning, 136, 36, '#f5a524');
    for (const [i, text] of rest.entries()) this.#line(text, 186 + 36 * i, 28, '#e8edf3');
    this.board.show();
  }

  #clear(tone: string): void {
    const { context, width, height } = this.board;
    context.clearRect(0, 0, width, height);
    context.fillStyle = 'rgba(13, 17, 23, 0.86)';
    context.fillRect(0, 0, width, height);
    context.fillStyle = tone;
    context.fillRect(0, 0, 12, height);
    context.textBaseline = 'top';
  }

  #line(text: string, y: number, size: number, colour: string, width = this.board.width - 50): void {
    const { context } = this.board;
    context.font = fontOf(size);
    context.fillStyle = colour;
    context.fillText(text, 34, y, width);
  }
}

const fontOf = (size: number): string => `${size}px system-ui, sans-serif`;

/** The text in lines that fit. */
function wrapped(context: CanvasRenderingContext2D, text: string, size: number, width: number): string[] {
  context.font = fontOf(size);
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && context.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function taskText(world: WorldTelemetry): string {
  const task = TASKS.find(({ name }) => name === world.task);
  return `${task?.instruction ?? world.task} ${timeText(world)}, ${scoreText(world)}`;
}

function recordText({ state, durationS, task }: RecorderStatus, kept: number): string {
  const count = kept === 0 ? '' : `${kept} kept`;
  if (state !== 'recording') return count;
  return [`● recording ${Math.floor(durationS)} s`, task, count].filter(Boolean).join(' · ');
}

function causeOf({ telemetry, inControl, tracked }: HudState): string {
  const { robot, input } = telemetry ?? {};
  const isOpen = OPEN_CLUTCH.includes(robot?.cause ?? '');
  if (isOpen && telemetry !== null && clutchAdvice(telemetry) !== '') return 'the robot stopped following';
  const waits = (robot?.state === 'armed' || robot?.state === 'hold') && input?.active === 'webxr';
  return waits && inControl && tracked && isOpen ? 'ready' : (robot?.cause ?? '');
}

/** The most serious problem, or what to do next; empty while the robot follows. */
function problem(hud: HudState): string {
  const { telemetry, fresh, inControl, holder, tracked, isBare, stopping } = hud;
  if (stopping) return 'STOPPING: waiting for the robot';
  if (!fresh || telemetry === null) return 'no telemetry: the robot’s watchdog holds it';
  if (!inControl) return `${holder ?? 'nobody'} is driving: touch TAKE OVER`;
  if (telemetry.input.active !== 'webxr') return `the active input is “${telemetry.input.active}”`;
  if (!tracked) return 'driving hand not tracked: the robot holds';
  const { robot, operator } = telemetry;
  if (robot?.state === 'stopped') return 'touch RESET to continue';
  if (robot?.state === 'idle') return 'touch ARM to power the joints';
  const advice = clutchAdvice(telemetry);
  if (advice !== '') return advice;
  if (causeOf(hud) === 'ready') return isBare ? bareClutch(telemetry) : 'hold the grip to move';
  const limit = robot ? limitText(robot, operator.limitTowards) : '';
  if (limit !== '') return limit.toLowerCase();
  if (operator.mapping === 'unreachable') return 'out of reach';
  return '';
}

/** Each hand of two arms has its own clutch. */
const bareClutch = ({ arms }: Telemetry): string =>
  arms === undefined ? 'pinch with your other hand to move' : 'thumb and middle finger together to move';
