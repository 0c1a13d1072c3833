import type { BentoPageRequest, BentoSceneMessage, BentoStatusMessage } from '../../sim/bento/bento-view.ts';
import { create, element, setText } from '../dom.ts';
import { chooseQuality } from '../view/quality.ts';
import { JointKeys } from './joint-keys.ts';
import { Stage } from './stage.ts';

const RETRY_MS = 1000;
/** A controller is active if its last command is not older than this. */
const ACTIVE_MS = 100;

const task = element('task', HTMLElement);
const physics = element('physics', HTMLElement);
const scenes = element('scenes', HTMLElement);
const reset = element('view-reset', HTMLButtonElement);
const quality = chooseQuality(location.search, devicePixelRatio);
const canvas = element('view', HTMLCanvasElement);
const stage =
  quality &&
  new Stage(canvas, quality, (free) => {
    reset.hidden = !free;
  });
element('view-failed', HTMLElement).hidden = stage !== null;
reset.addEventListener('click', () => stage?.protocolView());

let socket: WebSocket | null = null;
let scene: BentoSceneMessage | null = null;
const send = (request: BentoPageRequest): void => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(request));
};
const keys = new JointKeys(element('joints', HTMLElement), (states) => {
  const speeds = scene?.joints.map(({ maxSpeed }) => maxSpeed) ?? [];
  if (speeds.length === states.length) send({ kind: 'control', states, speeds });
});

function connect(): void {
  const url = new URL('bento-ws', location.href);
  url.protocol = 'ws:';
  url.search = url.hash = '';
  socket = new WebSocket(url);
  socket.binaryType = 'arraybuffer';
  socket.onmessage = ({ data }) => receive(data);
  socket.onclose = () => {
    setText(physics, 'disconnected from the simulator; reconnecting…');
    setTimeout(connect, RETRY_MS);
  };
}

function receive(data: unknown): void {
  if (data instanceof ArrayBuffer) {
    stage?.setPoses(new Float32Array(data));
    return;
  }
  const message = JSON.parse(String(data)) as BentoSceneMessage | BentoStatusMessage;
  if (message.kind === 'scene') showScene(message);
  else showStatus(message);
}

function showScene(message: BentoSceneMessage): void {
  scene = message;
  setText(task, message.index === 0 ? 'Virtual Bento arm' : message.task);
  setText(physics, message.noPhysics === null ? 'physics: MuJoCo' : `no physics: ${message.noPhysics}`);
  keys.setJoints(message.joints.map(({ name }) => name));
  stage?.setBodies(message.bodies);
  scenes.replaceChildren(
    ...message.tasks.slice(1).map((name, i) => {
      const button = create('button', '', `${i + 1} ${name}`);
      button.setAttribute('aria-pressed', String(i + 1 === message.index));
      button.addEventListener('click', () => send({ kind: 'scene', index: i + 1 }));
      return button;
    }),
  );
}

function showStatus(status: BentoStatusMessage): void {
  keys.show(status.counts, status.limits, status.speeds);
  stage?.setView(status.camera);
  const { controllerMs, deadManMs, deadManStops } = status;
  const isActive = controllerMs !== null && controllerMs < ACTIVE_MS;
  setText(
    element('controller', HTMLElement),
    controllerMs === null ? 'none yet' : isActive ? 'active' : 'idle',
  );
  const stops = deadManStops === 0 ? '' : `, ${deadManStops} stops`;
  setText(element('dead-man', HTMLElement), deadManMs === 0 ? 'off' : `${deadManMs} ms${stops}`);
  setText(element('camera', HTMLElement), status.camera.join(', '));
  const rejected = Object.entries(status.refused).map(([reason, count]) => `${count} ${reason}`);
  setText(element('rejected', HTMLElement), rejected.join(', ') || 'none');
}

connect();
