import type { Detail } from './shapes.ts';

export interface Quality {
  detail: Detail;
  antialias: boolean;
  pixelRatio: number;
  /** Zero: every animation frame. */
  maxFps: number;
}

const FINE: Detail = { around: 32, bevelSteps: 4 };
const COARSE: Detail = { around: 16, bevelSteps: 2 };
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** A software frame takes about 20 ms of a core: the page leaves the rest to robot and operator, which may run beside it. */
const SOFTWARE_FPS = 30;

/**
 * `?quality=low|high` overrides; otherwise a software renderer gets low quality. `?fps=N` limits the pictures per second, 0: does
 * not. Null without WebGL2.
 */
export function chooseQuality(search: string, devicePixelRatio: number): Quality | null {
  const renderer = rendererName();
  if (renderer === null) return null;
  const query = new URLSearchParams(search);
  const requested = query.get('quality');
  const low = requested === 'low' || (requested !== 'high' && SOFTWARE.test(renderer));
  const fps = /^\d{1,3}$/.test(query.get('fps') ?? '') ? Number(query.get('fps')) : null;
  if (low) return { antialias: false, pixelRatio: 1, maxFps: fps ?? SOFTWARE_FPS, detail: COARSE };
  return { antialias: true, pixelRatio: Math.min(1.5, devicePixelRatio), maxFps: fps ?? 0, detail: FINE };
}

function rendererName(): string | null {
  const gl = document.createElement('canvas').getContext('webgl2');
  if (gl === null) return null;
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const name: unknown = gl.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER);
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return String(name);
}
