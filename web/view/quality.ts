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

/** `?quality=low|high` overrides; otherwise a software renderer gets low quality. Null without WebGL2. */
export function chooseQuality(search: string, devicePixelRatio: number): Quality | null {
  const renderer = rendererName();
  if (renderer === null) return null;
  const requested = new URLSearchParams(search).get('quality');
  const low = requested === 'low' || (requested !== 'high' && SOFTWARE.test(renderer));
  // A software frame takes about 30 ms of a core, which robot and operator may need on the same machine.
  if (low) return { antialias: false, pixelRatio: 1, maxFps: 15, detail: COARSE };
  return { antialias: true, pixelRatio: Math.min(1.5, devicePixelRatio), maxFps: 0, detail: FINE };
}

function rendererName(): string | null {
  const gl = document.createElement('canvas').getContext('webgl2');
  if (gl === null) return null;
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const name: unknown = gl.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER);
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return String(name);
}
