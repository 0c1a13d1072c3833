import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { emptyPicture } from '../../src/camera/drawing.ts';
import { loadJpegCoder } from '../../src/camera/encoder.ts';
import { toThird } from '../../src/camera/resize.ts';
import type { RgbPicture, SourceHost } from '../../src/camera/source.ts';
import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { loadModel } from '../../src/rig/robot-models.ts';

export interface PictureCost {
  what: string;
  ms: Percentiles;
  kilobytes: number | null;
}

const ROUNDS = 120;
const WARM_UP = 20;

function timed(work: (round: number) => void): Percentiles {
  const tookMs: number[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const beginNs = monotonicClock.nowNs();
    work(round);
    if (round >= WARM_UP) tookMs.push((monotonicClock.nowNs() - beginNs) / 1e6);
  }
  return percentiles(tookMs)!;
}

/** A source that draws on request, and its last picture. */
async function drawn(name: string, options: Record<string, unknown>) {
  const plugin = await loadPlugin('camera', name);
  const model = loadModel('ur3');
  let tick: (nowNs: number) => void = () => {};
  const host: SourceHost & { last: RgbPicture } = {
    clock: monotonicClock,
    last: emptyPicture(640, 480),
    robot: {
      model,
      read(joints) {
        joints.set(model.homeRad);
        joints[0]! += Math.sin(monotonicClock.nowNs() / 1e9);
        return 0.5;
      },
    },
    everyFrame(every) {
      tick = every;
    },
    emit(picture) {
      if (picture.kind === 'rgb') this.last = picture;
    },
    fail() {},
  };
  const format = { widthPx: 640, heightPx: 480, fpsHz: 30, quality: 75 };
  await plugin.open(pluginConfig('camera', name, plugin, options), format, host);
  return { draw: () => tick(monotonicClock.nowNs()), picture: () => host.last };
}

/** Cost of one picture for the camera thread; 640 × 480 at quality 75 unless stated otherwise. */
export async function pictureCosts(): Promise<PictureCost[]> {
  const coder = await loadJpegCoder();
  const costs: PictureCost[] = [];
  for (const [name, options] of [
    ['test-pattern', {}],
    ['sim', {}],
    ['sim', { mount: 'wrist' }],
  ] as const) {
    const { draw, picture } = await drawn(name, options);
    const label = 'mount' in options ? `${name}, ${options.mount}` : name;
    costs.push({ what: `${label}: draw`, ms: timed(draw), kilobytes: null });
    const jpeg = coder.encode(picture(), 75);
    const encode = timed(() => coder.encode(picture(), 75));
    costs.push({ what: `${label}: encode`, ms: encode, kilobytes: jpeg.length / 1000 });
  }
  const full = emptyPicture(1920, 1080);
  costs.push({ what: '1920 × 1080 to a third', ms: timed(() => toThird(full)), kilobytes: null });
  return costs;
}
