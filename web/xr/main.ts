import { RecordFlow } from '../../src/desk/record-flow.ts';
import { TouchFeel, touchNm } from '../../src/hand/touch-feel.ts';
import type { AccessMessage, AccessState } from '../../src/messages/console-access.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { atMostEvery, element, setText } from '../dom.ts';
import { ContactTone } from '../feel/tone.ts';
import { pulseReport } from '../feel/touch.ts';
import type { ServerMessage } from '../link/messages.ts';
import { returnAfterPairing } from '../link/paired.ts';
import { instructionOf } from '../operate/task-text.ts';
import { listenForPress, listenForStopKeys } from '../panels/stop-keys.ts';
import { consoleKind } from '../shell/console-kind.ts';
import { chooseQuality } from '../view/quality.ts';
import { setMeshes } from '../view/robot-meshes.ts';
import { CameraWall } from './camera-wall.ts';
import { ConsoleHeadsetLink, type HeadsetLink } from './headset-link.ts';
import { HeadsetMeasure } from './headset-measure.ts';
import { Hud } from './hud.ts';
import { recordButtons } from './record-buttons.ts';
import { RobotHeadsetLink } from './robot-headset-link.ts';
import { Room } from './room.ts';
import { HeadsetSession, type SessionMode } from './session.ts';
import { StereoView } from './stereo-view.ts';
import { HeadsetStop } from './stop.ts';
import { TouchButtons } from './touch-buttons.ts';

declare global {
  interface Window {
    /** Read by tests only. */
    __farhandXr: {
      telemetry: Telemetry | null;
      access: AccessState | null;
      over: string;
      frames: number;
      press(kind: 'arm' | 'reset' | 'hold'): void;
      measure(): void;
      guide(): readonly string[] | null;
      advice(): string;
      dropPeer(): void;
      stereo(): string;
    };
  }
}

const INPUT = 'webxr';
const STALE_MS = 1000;
const LATE_MS = 120;

const page: Window['__farhandXr'] = {
  telemetry: null,
  access: null,
  over: '',
  frames: 0,
  press: (kind) => link.send({ kind }),
  measure: () => measure.toggle(),
  guide: () => measure.guide(performance.now())?.lines ?? null,
  advice: () => hud.advice,
  dropPeer: () => link.dropPeer(),
  stereo: () => stereo?.shownBy ?? '',
};
window.__farhandXr = page;
returnAfterPairing();
let receivedMs = Number.NEGATIVE_INFINITY;
let rttMs: number | null = null;
let wasImpaired = false;
/** Entered while there was no connection, which queues nothing. */
let isClaimPending = false;
const touch = new TouchFeel();
const tone = new ContactTone();

const handlers = { onMessage: receive, onAccess: receiveAccess, onStatus: receiveStatus };
const { fleet, robot: fleetRobot } = consoleKind;
const robotLink = fleet && fleetRobot ? new RobotHeadsetLink(fleet, fleetRobot, handlers) : null;
const link: HeadsetLink = robotLink ?? new ConsoleHeadsetLink(location, handlers);
const stop = new HeadsetStop(() => link.estop());
const hud = new Hud();
let stereo: StereoView | null = null;
const quality = chooseQuality(location.search, devicePixelRatio);
if (quality === null) throw new Error('this browser does not support WebGL2');
const room = new Room(element('view', HTMLCanvasElement), quality);
const cameras = new CameraWall(room.scene);
const session = new HeadsetSession({
  room,
  stop,
  followGuesses: new URLSearchParams(location.search).get('guesses') === 'follow',
  overlay: element('overlay', HTMLElement),
  send: (bytes) => link.sendPoses(bytes),
  frame: afterPoses,
  entered: enterStereo,
  ended: () => {
    isClaimPending = false;
    show();
  },
});
const measure = new HeadsetMeasure((request) => link.send(request));
const flow = new RecordFlow((request) => link.send(request), instructionOf);
const buttons = new TouchButtons([
  { label: () => nextStep().label, colour: '#1d4f7c', always: false, press: () => nextStep().act() },
  { label: () => 'HOME', colour: '#2b3644', always: false, press: () => link.send({ kind: 'home' }) },
  { label: () => 'STOP', colour: '#d9232e', always: true, press: () => stop.press(performance.now()) },
  {
    row: 2,
    label: () => (measure.isRunning ? 'CANCEL' : 'MEASURE'),
    colour: '#2b3644',
    always: false,
    press: () => measure.toggle(),
    shown: () => measure.isOffered,
  },
  {
    row: 2,
    label: () => 'NEXT',
    colour: '#2b3644',
    always: false,
    press: () => link.send({ kind: 'world', task: '', seed: null }),
    shown: () => page.telemetry?.world != null,
  },
  {
    row: 2,
    label: () => 'HAND BACK',
    colour: '#1d4f7c',
    always: false,
    press: () => link.send({ kind: 'hand-back' }),
    shown: () => page.telemetry?.operator.isInterrupted === true,
  },
  ...recordButtons(flow, () => page.telemetry?.record != null),
]);

// Beside the large picture, also for a head that is not quite where it was.
hud.board.root.position.set(-0.12, 1.76, -1.35);
buttons.root.position.set(-0.62, 1.02, -0.42);
buttons.root.rotation.y = 0.5;
room.scene.add(hud.board.root, buttons.root);
const drawHud = atMostEvery(100, showHud);

room.renderer.setAnimationLoop((nowMs: number, frame?: XRFrame) => {
  if (frame) session.onFrame(frame);
  // A phone is not seen in front of itself.
  room.draw(frame && !session.onPhone ? session.packet : null, nowMs);
  page.frames++;
});
setInterval(() => {
  stop.update(isFresh() && page.telemetry?.robot?.state === 'stopped', performance.now());
  drawHud(performance.now());
  show();
}, 100);
element('enter-vr', HTMLButtonElement).addEventListener('click', () => void enter('immersive-vr'));
element('enter-ar', HTMLButtonElement).addEventListener('click', () => void enter('immersive-ar'));
element('leave', HTMLButtonElement).addEventListener('click', () => session.end());
element('step', HTMLButtonElement).addEventListener('click', () => nextStep().act());
element('take', HTMLButtonElement).addEventListener('click', () => link.control('take'));
const pressStop = () => stop.press(performance.now());
listenForPress(element('stop', HTMLButtonElement), pressStop);
listenForStopKeys(pressStop);
window.addEventListener('pagehide', () => session.end());
await begin();

/** Reports what is missing, then connects. */
async function begin(): Promise<void> {
  const { role } = (await (await fetch('./api/access')).json()) as { role: string | null };
  if (role === null) {
    setText(
      element('why', HTMLElement),
      'This device is not paired. Open “Pair a device” below and enter the code from the console.',
    );
    return;
  }
  if (fleet !== null && robotLink === null) {
    setText(element('why', HTMLElement), 'No robot selected. Open a robot from the fleet list.');
    return;
  }
  link.connect();
  const offered = async (mode: SessionMode) => (await navigator.xr?.isSessionSupported(mode)) ?? false;
  const [vr, ar] = [await offered('immersive-vr'), await offered('immersive-ar')];
  element('enter-vr', HTMLButtonElement).disabled = !vr || role === 'viewer';
  element('enter-ar', HTMLButtonElement).disabled = !ar || role === 'viewer';
  const isPhoneOffered = ar && !vr;
  setText(
    element('enter-ar', HTMLButtonElement),
    isPhoneOffered ? 'Drive with this phone' : 'Enter with passthrough',
  );
  element('enter-vr', HTMLButtonElement).hidden = isPhoneOffered;
  if (!isSecureContext)
    setText(
      element('why', HTMLElement),
      'Headsets and phones need HTTPS: start the console with console.https=true and pair this device. Or use localhost through `adb reverse`.',
    );
  else if (!vr && !ar)
    setText(
      element('why', HTMLElement),
      'This browser offers neither VR nor AR. Open this page in a headset’s browser, or in Chrome on an Android phone with Google Play Services for AR.',
    );
  else if (role === 'viewer')
    setText(element('why', HTMLElement), 'Paired as viewer: you can watch and stop the robot.');
}

/** Makes the headset the input. Not while a policy drives: closing the clutch takes over from it. */
function useHeadset(): void {
  if (page.telemetry?.operator.driver !== 'policy') link.send({ kind: 'input', name: INPUT });
}

/** Takes control if nobody has it, and makes the headset the input. */
function claim(): void {
  isClaimPending = link.status !== 'open';
  if (isClaimPending) return;
  link.control('claim');
  useHeadset();
}

async function enter(mode: SessionMode): Promise<void> {
  if (session.active) return;
  tone.allow();
  claim();
  try {
    await session.enter(mode);
  } catch (error) {
    isClaimPending = false;
    setText(element('why', HTMLElement), `The session did not start: ${(error as Error).message}`);
  }
}

function receive(message: ServerMessage): void {
  if (message.kind === 'hello') {
    setMeshes(message.model, message.meshes ?? []);
    room.setModel(message.model, message.arms);
    measure.setModel(message.model);
    const { cameras: names = [], stereo: pair = [] } = message as { cameras?: string[]; stereo?: string[] };
    cameras.open(names, location.href, link.pictures);
    openStereo(pair);
    return;
  }
  if (message.kind !== 'telemetry') return;
  const nowMs = performance.now();
  receivedMs = nowMs;
  page.telemetry = message;
  feel(message, nowMs);
  hud.add(message);
  measure.show(message, nowMs);
  if (page.access?.inControl) flow.update(message);
  room.aim(message, nowMs);
  stop.update(message.robot?.state === 'stopped', nowMs);
  cue(message);
}

/** Contact: a pulse in the controllers; a tone for bare hands. */
function feel(message: Telemetry, nowMs: number): void {
  const pulse = touch.step(touchNm(message.robot?.externalNm ?? null), nowMs);
  if (pulse === null || !session.active) return;
  const isInControllers = session.buzz(pulse.strength, pulse.durationMs);
  if (!isInControllers && !tone.play(pulse)) return;
  const report = pulseReport(message, pulse, isInControllers ? 'controllers' : 'tone');
  if (report !== null) link.send(report);
}

function openStereo(pair: readonly string[]): void {
  if (stereo !== null || pair.length !== 2 || link.pictures === null) return;
  stereo = new StereoView(link.pictures, pair);
  room.scene.add(stereo.root);
  const current = room.renderer.xr.getSession();
  if (current !== null) enterStereo(current);
}

function enterStereo(session: XRSession): void {
  const space = room.renderer.xr.getReferenceSpace();
  const scene = room.renderer.xr.getBaseLayer();
  if (space !== null && scene !== null) stereo?.enter({ session, space, scene });
}

function receiveStatus(): void {
  if (isClaimPending) claim();
  show();
}

function receiveAccess(message: AccessMessage): void {
  if (message.kind === 'access') {
    const hadControl = page.access?.inControl ?? false;
    page.access = message;
    // A wearer who gains control drives with the headset.
    if (message.inControl && !hadControl && session.active) useHeadset();
  }
  if (message.kind === 'path') {
    page.over = message.over;
    rttMs = message.rttMs;
  }
  show();
}

/** The first button takes control, resets, arms or disarms, depending on the state. */
function nextStep(): { label: string; act(): void } {
  if (page.access?.inControl === false) return { label: 'TAKE OVER', act: () => link.control('take') };
  const state = page.telemetry?.robot?.state;
  if (state === 'stopped') return { label: 'RESET', act: () => link.send({ kind: 'reset' }) };
  if (state === 'idle') return { label: 'ARM', act: () => link.send({ kind: 'arm' }) };
  return { label: 'DISARM', act: () => link.send({ kind: 'disarm' }) };
}

function afterPoses(): void {
  if (session.onPhone) return;
  const follows = page.telemetry?.robot?.state === 'engaged';
  const tips = session.findTips();
  buttons.update(tips, follows);
  if (!follows) cameras.update(tips, session.findGrabbers());
}

/** Vibrates when something starts to limit the motion or commands arrive late. */
function cue({ robot, closed, operator }: Telemetry): void {
  const late = closed.some(({ oneWayMs, outcome }) => outcome === 'late' || (oneWayMs ?? 0) > LATE_MS);
  const impaired =
    robot?.state === 'engaged' && (robot.limitedBy !== '' || operator.mapping === 'unreachable' || late);
  if (impaired && !wasImpaired) session.buzz(0.6, 40);
  wasImpaired = impaired;
}

function isFresh(): boolean {
  return link.status === 'open' && performance.now() - receivedMs < STALE_MS;
}

function showHud(): void {
  const { telemetry, access, over } = page;
  const { inControl = false, holder = null } = access ?? {};
  const tracked = session.packet.left.tracked || session.packet.right.tracked;
  const isBare = [session.packet.left, session.packet.right].some(({ kind }) => kind === 'hand');
  const guide = stop.pending ? null : measure.guide(performance.now());
  const now = {
    telemetry,
    fresh: isFresh(),
    inControl,
    holder,
    over,
    rttMs,
    tracked,
    isBare,
    kept: flow.kept,
  };
  hud.draw({ ...now, stopping: stop.pending, guide });
}

function show(): void {
  const { access, telemetry, over } = page;
  setText(
    element('state', HTMLElement),
    isFresh() ? (telemetry?.robot?.state ?? 'disconnected') : 'no telemetry',
  );
  if (robotLink !== null && link.status !== 'open' && robotLink.problem !== '')
    setText(element('why', HTMLElement), `Not connected to ${fleetRobot}: ${robotLink.problem}.`);
  else if (robotLink !== null && link.status === 'open' && showsNotConnected(fleetRobot))
    setText(element('why', HTMLElement), '');
  setText(element('control', HTMLElement), access?.inControl ? 'you' : (access?.holder ?? 'nobody'));
  setText(element('path', HTMLElement), over === '' ? '—' : `${over}, ${rttMs?.toFixed(1) ?? '–'} ms`);
  setText(element('clutch', HTMLElement), telemetry?.input.clutch ? 'closed' : 'open');
  const stopped = isFresh() && telemetry?.robot?.state === 'stopped';
  setText(element('stop', HTMLElement), stop.pending ? 'stopping…' : stopped ? 'STOPPED' : 'E-STOP');
  setText(element('step', HTMLButtonElement), nextStep().label);
  element('take', HTMLButtonElement).disabled =
    access === null || access.inControl || access.role === 'viewer';
}

/** The page shows that it has no session with this robot. */
function showsNotConnected(robot: string | null): boolean {
  return element('why', HTMLElement).textContent?.startsWith(`Not connected to ${robot}`) ?? false;
}
