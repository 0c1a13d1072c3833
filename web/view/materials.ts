import { Color, Mesh, NotEqualStencilFunc, ReplaceStencilOp, ShaderMaterial, Vector3 } from 'three';
import type { ArmMaterial } from './arm-body.ts';
import type { Palette } from './palette.ts';

/**
 * Lights per vertex, in display colours. The Lambert material of three.js lights and converts every pixel, which took a
 * software renderer about twice as long. Two lamps and a sky, fixed in the world.
 */
const LIGHTING = `
  uniform vec3 sky;
  uniform vec3 earth;
  uniform vec3 keyWay;
  uniform vec3 rimWay;
  vec3 lit(vec3 n) {
    vec3 light = mix(earth, sky, 0.5 + 0.5 * n.y);
    light += vec3(0.52) * max(0.0, dot(n, keyWay));
    return light + vec3(0.2, 0.22, 0.25) * max(0.0, dot(n, rimWay));
  }
`;

const VERTEX = `
  ${LIGHTING}
  uniform vec3 tint;
  uniform float opacity;
  uniform float shading;
  varying vec4 vColour;
  void main() {
    vec4 world = modelMatrix * vec4(position, 1.0);
    vec3 n = normalize(mat3(modelMatrix) * normal);
    vec3 paint = tint;
    float alpha = opacity;
    #ifdef USE_COLOR
      paint *= color;
    #else
      float facing = abs(dot(n, normalize(cameraPosition - world.xyz)));
      alpha *= mix(1.0, 0.6, facing);
    #endif
    vColour = vec4(paint * mix(vec3(1.0), lit(n), shading), alpha);
    gl_Position = projectionMatrix * viewMatrix * world;
  }
`;

const FRAGMENT = `
  varying vec4 vColour;
  void main() {
    gl_FragColor = vColour;
  }
`;

export interface TintMaterial extends ShaderMaterial {
  uniforms: { opacity: { value: number }; [name: string]: { value: unknown } };
}

const ROBOT_STENCIL = 1;

/** Matt and solid with `vertexColors`; otherwise uniform and more transparent where it faces the camera. */
export function litMaterial(palette: Palette, tint: number, vertexColors: boolean): TintMaterial {
  const uniforms = {
    sky: { value: new Color(palette.skyLight) },
    earth: { value: new Color(palette.groundLight) },
    keyWay: { value: new Vector3(-0.75, 0.8, 0.55).normalize() },
    rimWay: { value: new Vector3(0.7, 0.35, -0.75).normalize() },
    tint: { value: new Color(tint) },
    opacity: { value: 1 },
    shading: { value: vertexColors ? 1 : 0.5 },
  };
  const material = new ShaderMaterial({
    uniforms,
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    vertexColors,
  });
  return material as ShaderMaterial & TintMaterial;
}

export function solidMaterial(palette: Palette): ArmMaterial {
  const material = litMaterial(palette, 0xffffff, true);
  material.setValues({ stencilWrite: true, stencilRef: ROBOT_STENCIL, stencilZPass: ReplaceStencilOp });
  return {
    dress(mesh) {
      mesh.material = material;
      return mesh;
    },
  };
}

export interface GhostMaterial extends ArmMaterial {
  setOpacity(opacity: number): void;
}

/**
 * Draws the ghost only where the robot is not, using the stencil, so the robot stays readable. A depth-only pass first
 * keeps the ghost's inner surfaces from adding up.
 */
export function ghostMaterial(palette: Palette): GhostMaterial {
  const beside = { stencilWrite: true, stencilRef: ROBOT_STENCIL, stencilFunc: NotEqualStencilFunc };
  const depth = litMaterial(palette, palette.ghost, false);
  depth.setValues({ colorWrite: false, ...beside });
  const tint = litMaterial(palette, palette.ghost, false);
  tint.setValues({ transparent: true, depthWrite: false, ...beside });
  return {
    dress(mesh) {
      mesh.material = tint;
      mesh.renderOrder = 3;
      const first = new Mesh(mesh.geometry, depth);
      first.renderOrder = 2;
      return mesh.add(first) as Mesh;
    },
    setOpacity(opacity) {
      tint.uniforms.opacity.value = opacity;
    },
  };
}
