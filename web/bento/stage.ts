import {
  AmbientLight,
  Color,
  DirectionalLight,
  type Group,
  HemisphereLight,
  type Material,
  Mesh,
  MeshLambertMaterial,
  PCFShadowMap,
  PerspectiveCamera,
  PlaneGeometry,
  Scene,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { type Body, POSE_SIZE } from '../../sim/bento/bento-view.ts';
import { isLight } from '../shell/theme.ts';
import type { Quality } from '../view/quality.ts';
import { drawBody } from './shapes.ts';
import { aimAsUnity, UNITY_FOV_DEG } from './unity-camera.ts';

/** The camera orbits this point: the fingers of a level arm. */
const CENTRE = new Vector3(0.4, 0, 0.05);
const FLOOR_Z_M = -0.0516;

/** The 3D view. Uses the camera from the control packets until the user drags it. */
export class Stage {
  readonly #canvas: HTMLCanvasElement;
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new PerspectiveCamera(UNITY_FOV_DEG, 1, 0.01, 20);
  readonly #controls: OrbitControls;
  readonly #onFree: (free: boolean) => void;
  readonly #fine: boolean;
  #groups: Group[] = [];
  #shown = new Float32Array(0);
  #view: readonly number[] = [-185, 500, 0, 66, 270, 0];
  #free = false;
  #dirty = true;

  constructor(canvas: HTMLCanvasElement, quality: Quality, onFree: (free: boolean) => void) {
    this.#canvas = canvas;
    this.#onFree = onFree;
    this.#renderer = new WebGLRenderer({
      canvas,
      antialias: quality.antialias,
      powerPreference: 'low-power',
    });
    this.#renderer.setPixelRatio(quality.pixelRatio);
    this.#renderer.shadowMap.enabled = true;
    this.#renderer.shadowMap.type = PCFShadowMap;
    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.minDistance = 0.15;
    this.#controls.maxDistance = 2;
    this.#controls.addEventListener('start', () => this.#setFree());
    this.#controls.addEventListener('change', () => {
      this.#dirty = true;
    });
    this.#fine = quality.antialias;
    this.#light();
    new ResizeObserver(() => this.#resize()).observe(canvas);
    const periodMs = quality.maxFps === 0 ? 0 : 1000 / quality.maxFps;
    let nextMs = 0;
    const tick = (nowMs: number) => {
      requestAnimationFrame(tick);
      if (!this.#dirty || nowMs < nextMs) return;
      nextMs = nowMs + periodMs - 3;
      this.#dirty = false;
      this.#renderer.render(this.#scene, this.#camera);
    };
    requestAnimationFrame(tick);
  }

  setBodies(bodies: readonly Body[]): void {
    for (const group of this.#groups) {
      group.traverse(disposeMesh);
      this.#scene.remove(group);
    }
    this.#groups = bodies.map((body) => drawBody(body, this.#fine));
    this.#shown = new Float32Array(bodies.length * POSE_SIZE);
    this.#scene.add(...this.#groups);
    this.protocolView();
  }

  /** Redraws only if something moved by more than 0.01 mm. */
  setPoses(poses: Float32Array): void {
    if (poses.length !== this.#shown.length) return;
    if (poses.every((value, i) => Math.abs(value - this.#shown[i]!) < 1e-5)) return;
    this.#shown.set(poses);
    this.#groups.forEach((group, i) => {
      const [x = 0, y = 0, z = 0, qw = 1, qx = 0, qy = 0, qz = 0] = poses.subarray(i * POSE_SIZE);
      group.position.set(x, y, z);
      group.quaternion.set(qx, qy, qz, qw);
    });
    this.#dirty = true;
  }

  setView(view: readonly number[]): void {
    if (view.every((value, i) => value === this.#view[i])) return;
    this.#view = view;
    this.protocolView();
  }

  /** Returns to the camera from the control packets. */
  protocolView(): void {
    this.#free = false;
    this.#onFree(false);
    aimAsUnity(this.#camera, this.#view);
    this.#dirty = true;
  }

  #setFree(): void {
    if (this.#free) return;
    this.#free = true;
    this.#onFree(true);
    this.#camera.up.set(0, 0, 1);
    this.#controls.target.copy(CENTRE);
    this.#controls.update();
  }

  #light(): void {
    const shadowPx = this.#fine ? 2048 : 512;
    const light = isLight();
    const ground = new Color(light ? '#dfe6ee' : '#141a22');
    this.#scene.background = ground;
    const floor = new Mesh(
      new PlaneGeometry(8, 8),
      new MeshLambertMaterial({ color: light ? '#c9d3de' : '#1b222c' }),
    );
    floor.position.z = FLOOR_Z_M;
    floor.receiveShadow = true;
    const lamp = new DirectionalLight('#fff4e2', 2.2);
    lamp.position.set(-0.1, 0.75, 1.3);
    lamp.target.position.copy(CENTRE);
    lamp.castShadow = true;
    lamp.shadow.mapSize.set(shadowPx, shadowPx);
    Object.assign(lamp.shadow.camera, {
      left: -0.6,
      right: 0.6,
      top: 0.6,
      bottom: -0.6,
      near: 0.2,
      far: 2.5,
    });
    lamp.shadow.bias = -0.0004;
    lamp.shadow.normalBias = 0.002;
    const fill = new DirectionalLight('#bcd6f5', 0.6);
    fill.position.set(0.8, -0.9, 0.7);
    const sky = new HemisphereLight('#eef4fb', '#5b564d', 0.9);
    sky.position.set(0, 0, 1);
    this.#scene.add(floor, lamp, lamp.target, fill, sky, new AmbientLight('#ffffff', 0.25));
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.#canvas;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.#camera.aspect = clientWidth / clientHeight;
    this.#camera.updateProjectionMatrix();
    this.#renderer.setSize(clientWidth, clientHeight, false);
    this.#dirty = true;
  }
}

function disposeMesh(node: unknown): void {
  if (!(node instanceof Mesh)) return;
  node.geometry.dispose();
  const materials: Material[] = [node.material].flat();
  for (const material of materials) material.dispose();
}
