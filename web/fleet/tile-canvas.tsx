import { useEffect, useRef } from 'preact/hooks';
import type { Shown, Tone } from './robot-status.ts';
import { TONES } from './robot-status.ts';

const TILE_PX = 7;
const STEP_PX = 9;
const DIM = 0.25;

interface Props {
  all: readonly Shown[];
  shown: ReadonlySet<string>;
  label: string;
  onFind(robot: string | undefined): void;
}

/** The map of thousands of robots: as elements, they would take longer to compare than a frame lasts. */
export function TileCanvas({ all, shown, label, onFind }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current !== null) draw(canvas.current, all, shown);
  }, [all, shown]);
  const find = ({ offsetX, offsetY, currentTarget }: PointerEvent) => {
    const columns = columnsOf(currentTarget as HTMLCanvasElement);
    onFind(all[Math.floor(offsetY / STEP_PX) * columns + Math.floor(offsetX / STEP_PX)]?.robot);
  };
  return (
    <div class="fleet-tiles-box">
      <canvas
        ref={canvas}
        class="fleet-canvas"
        data-testid="fleet-map"
        role="img"
        aria-label={label}
        onPointerUp={find}
      />
    </div>
  );
}

const columnsOf = (canvas: HTMLCanvasElement): number =>
  Math.max(1, Math.floor(canvas.clientWidth / STEP_PX));

function draw(canvas: HTMLCanvasElement, all: readonly Shown[], shown: ReadonlySet<string>): void {
  const columns = columnsOf(canvas);
  const heightPx = Math.ceil(all.length / columns) * STEP_PX;
  const scale = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = heightPx * scale;
  canvas.style.height = `${heightPx}px`;
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(scale, scale);
  const colours = coloursOf();
  all.forEach(({ robot, tone, lease }, i) => {
    const [x, y] = [(i % columns) * STEP_PX, Math.floor(i / columns) * STEP_PX];
    context.globalAlpha = shown.has(robot) ? 1 : DIM;
    context.fillStyle = colours[tone];
    if (tone === 'gone') {
      context.strokeStyle = colours[tone];
      context.strokeRect(x + 0.5, y + 0.5, TILE_PX - 1, TILE_PX - 1);
    } else context.fillRect(x, y, TILE_PX, TILE_PX);
    if (lease !== null) context.clearRect(x + 2, y + 2, TILE_PX - 4, TILE_PX - 4);
  });
}

/** As the counts above the map have them. */
function coloursOf(): Record<Tone, string> {
  const colour = (tone: Tone) => {
    const button = document.querySelector(`.fleet-counts [data-tone="${tone}"]`);
    return (button && getComputedStyle(button).getPropertyValue('--tone').trim()) || '#888';
  };
  return Object.fromEntries(TONES.map((tone) => [tone, colour(tone)])) as Record<Tone, string>;
}
