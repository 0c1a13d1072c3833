import { TouchFeel, touchNm } from '../src/hand/touch-feel.ts';
import type { ConsoleHello, DeviceReport } from '../src/messages/console.ts';
import type { Telemetry } from '../src/messages/telemetry.ts';
import { CameraViewStrip } from './camera/views.ts';
import { atMostEvery, element, setAttribute, setText } from './dom.ts';
import { Drive } from './drive/drive.ts';
import { gamepad } from './drive/gamepad.ts';
import { pulseGamepad, pulseReport } from './feel/touch.ts';
import { HandoverRequests } from './fleet/handover-requests.ts';
import { SessionPanel } from './fleet/session-panel.ts';
import { Panels } from './layout/panels.ts';
import { ControlChip } from './link/control-chip.ts';
import type { ServerMessage } from './link/messages.ts';
import type { LinkStatus, PageLink } from './link/page-link.ts';
import { isPaired, returnAfterPairing } from './link/paired.ts';
import { socketUrl } from './link/reconnecting-socket.ts';
import { RobotLink } from './link/robot-link.ts';
import { ConsoleLink } from './link/socket.ts';
import { ArmsLine } from './operate/arms-line.ts';
import { ClearanceLine } from './operate/clearance.ts';
import { InputsPanel } from './operate/inputs-panel.ts';
import { LinkControls } from './operate/link-controls.ts';
import { PolicyLine } from './operate/policy-line.ts';
import { RecordCard } from './operate/record-card.ts';
import { TaskCard } from './operate/task-card.ts';
import { TouchLine } from './operate/touch-line.ts';
import { ViewTools } from './operate/view-tools.ts';
import { Banner } from './panels/banner.ts';
import { Estop } from './panels/estop.ts';
import { FingersPanel } from './panels/fingers-panel.ts';
import { HeaderChips } from './panels/header.ts';
import { sentence } from './panels/labels.ts';
import { LatencyPanel } from './panels/latency-panel.ts';
import { LatencyWindow } from './panels/latency-window.ts';
import { MeasurePanel } from './panels/measure-panel.ts';
import { MotorsPanel } from './panels/motors-panel.ts';
import { believedState, StatePanel } from './panels/state-panel.ts';
import { LivePlotsHost } from './plots/live-plots-host.ts';
import { Announcer } from './shell/announcer.ts';
import { consoleKind } from './shell/console-kind.ts';
import { LazyPages } from './shell/lazy-pages.ts';
import { OPERATOR_PAGES, type PageName, Router } from './shell/router.ts';
import { startThemeButton } from './shell/theme.ts';
import { TourHost } from './tour/tour-host.ts';
import { chooseQuality } from './view/quality.ts';
import { setMeshes } from './view/robot-meshes.ts';
import { RobotView } from './view/robot-view.ts';

declare global {
  interface Window {
    /** Read by tests only. */
    __farhand: {
      frames: number;
      lastTelemetry: Telemetry | null;
      /** Position of the drawn hand on the page. */
      handPx(): [number, number] | null;
    };
  }
}

/** Telemetry older than this is stale. */
const STALE_MS = 1000;
const WATCH_MS = 100;

window.__farhand = { frames: 0, lastTelemetry: null, handPx: () => view?.handPx() ?? null };

startThemeButton();
returnAfterPairing();
const { fleet, robot: fleetRobot } = consoleKind;
const session = fleet && fleetRobot ? new SessionPanel(fleetRobot) : null;
const robotLink =
  fleet && fleetRobot && session
    ? new RobotLink(fleet, fleetRobot, {
        onMessage: receive,
        onStatus: linkChanged,
        onPath: (path) => session.showPath(path),
        onSound: (stream) => session.play(stream),
      })
    : null;
const link: PageLink =
  robotLink ?? new ConsoleLink(socketUrl(location), { onMessage: receive, onStatus: linkChanged });
const drive = new Drive({
  unreliable: (request) => link.sendUnreliable(request),
  reliable: (request) => link.send(request),
  estop: () => estop.press(performance.now()),
  recordAct: (act) => recordCard.act(act),
});
const view = openView();
const commands = new LatencyWindow();
const latency = new LatencyPanel(commands);
const fingers = new FingersPanel();
const motors = new MotorsPanel();
const measure = new MeasurePanel((request) => link.send(request));
const chips = new HeaderChips();
const banner = new Banner();
const announcer = new Announcer();
const clearance = new ClearanceLine();
const cameras = new CameraViewStrip(robotLink);
const estop = new Estop(
  (request) => link.send(request),
  () => drive.releaseClutch(),
);
const statePanel = new StatePanel((request) => link.send(request));
const armsLine = new ArmsLine(
  (request) => link.send(request),
  () => drive.releaseClutch(),
);
const policyLine = new PolicyLine((request) => link.send(request));
const inputs = new InputsPanel((request) => link.send(request));
const touch = new TouchFeel();
const touchLine = new TouchLine();
const taskCard = new TaskCard((request) => link.send(request));
const recordCard = new RecordCard((request) => link.send(request));
const linkControls = new LinkControls((request) => link.send(request));
const plots = new LivePlotsHost();
new Panels((shown) => plots.setShown(shown));
const tour = new TourHost((request) => link.send(request), drive.isBlocked);
const pages = new LazyPages({ commands, fleet, send: (request) => link.send(request) });
const router = new Router(enter, fleet ? ['fleet', 'operate', 'latency', 'record'] : OPERATOR_PAGES);

let receivedMs = Number.NEGATIVE_INFINITY;
let paired = true;
const showSlow = atMostEvery(250, () => {
  const telemetry = window.__farhand.lastTelemetry;
  chips.update(link.status, isFresh(), telemetry, router.page === 'operate');
  if (telemetry) inputs.update(telemetry, isFresh());
  setAttribute(drivePanel, 'data-method', inputs.method);
});

new ViewTools(view);
window.addEventListener('online', () => link.status !== 'open' && link.connect());
setInterval(watch, WATCH_MS);
const drivePanel = element('drive', HTMLElement);
const controlChip = new ControlChip(link, (watching) => {
  pages.setWatching(watching);
  tour.setWatching(watching !== null);
  statePanel.setWatching(watching !== null);
});
if (fleet) new HandoverRequests(fleet);
session?.onRetry(() => link.connect());
router.start();
link.connect();
if (fleet === null) void loadInputs();
else fleet.connect();

function openView(): RobotView | null {
  const quality = chooseQuality(location.search, devicePixelRatio);
  element('view-failed', HTMLElement).hidden = quality !== null;
  if (quality === null) return null;
  const drawn = () => {
    window.__farhand.frames++;
  };
  return new RobotView(
    element('view', HTMLCanvasElement),
    element('edges', HTMLElement),
    quality,
    drawn,
    drive.drag,
  );
}

function enter(page: PageName, isFirst: boolean): void {
  view?.setHidden(page !== 'operate');
  if (page !== 'operate') drive.releaseClutch();
  pages.enter(page);
  if (!isFirst) element('page', HTMLElement).focus({ preventScroll: true });
}

/** Inputs that this rig does not have. A console of another version may not serve them. */
async function loadInputs(): Promise<void> {
  try {
    const response = await fetch('api/devices');
    if (response.ok) inputs.setReports(((await response.json()) as DeviceReport).inputs);
  } catch {
    // Offline: the banner shows it.
  }
}

function receive(message: ServerMessage): void {
  if (message.kind === 'hello') return showHello(message);
  if (message.kind === 'link') {
    tour.setNetwork(message.link.profile);
    return linkControls.setLink(message.link);
  }
  if (message.kind === 'export') return pages.exported(message.job);
  if (message.kind === 'replay') return pages.replayed(message.job);
  const nowMs = performance.now();
  receivedMs = nowMs;
  window.__farhand.lastTelemetry = message;
  commands.add(message.closed, nowMs / 1000);
  if (router.page === 'operate') {
    feel(message, nowMs);
    view?.show(message, nowMs);
    latency.show(message, nowMs);
    fingers.show(message);
    motors.show(message);
    measure.show(message, nowMs);
    clearance.update(message.robot);
    armsLine.update(message);
    linkControls.update(message);
    taskCard.update(message);
    recordCard.update(message);
    touchLine.update(message);
    plots.show(message, nowMs);
  }
  tour.update(message, nowMs);
  pages.show(message, nowMs);
  showState();
}

/** Before anything is drawn: a person notices a late pulse. */
function feel(message: Telemetry, nowMs: number): void {
  const pulse = touch.step(touchNm(message.robot?.externalNm ?? null), nowMs);
  if (pulse === null) return;
  if (message.input.active !== 'page' || !pulseGamepad(gamepad(), pulse)) return;
  touchLine.felt(message);
  const report = pulseReport(message, pulse, 'gamepad');
  if (report !== null) link.send(report);
}

function showHello({ model, cameras: names = [], stereo = [], ...hello }: ConsoleHello): void {
  const scene = hello.scene ?? null;
  setMeshes(model, hello.meshes ?? []);
  setText(element('model-title', HTMLElement), fleetRobot ? `${fleetRobot} · ${model.title}` : model.title);
  view?.setModel(model, scene, hello.arms);
  clearance.setScene(scene);
  fingers.setModel(model);
  motors.setModel(model);
  measure.setModel(model);
  cameras.setCameras(names, stereo);
  plots.setModel(model);
  pages.setModel(model);
}

function linkChanged(status: LinkStatus): void {
  if (status === 'closed') {
    receivedMs = Number.NEGATIVE_INFINITY;
    void isPaired().then((answer) => {
      paired = answer || link.status === 'open';
      showState();
    });
  }
  if (status === 'open') {
    paired = true;
    commands.clear();
  }
  showState();
  chips.update(status, isFresh(), window.__farhand.lastTelemetry, router.page === 'operate');
}

/** Notices when messages stop. */
function watch(): void {
  if (!isFresh() || estop.pending) showState();
  showSlow(performance.now());
}

function isFresh(): boolean {
  return link.status === 'open' && performance.now() - receivedMs < STALE_MS;
}

function showState(): void {
  const telemetry = window.__farhand.lastTelemetry;
  const fresh = isFresh();
  const state = believedState(telemetry, fresh);
  document.body.classList.toggle('stale', telemetry !== null && !fresh);
  // Without a session, the broker reports the robot's state.
  const reportedStopped = robotLink?.isReportedStopped(performance.now()) ?? false;
  estop.update(
    state === 'stopped' || reportedStopped,
    performance.now(),
    (fresh && telemetry?.operator.estopMs) || null,
  );
  statePanel.update(telemetry, link.status, fresh, estop.pending);
  recordCard.enable(fresh && router.page === 'operate' && !controlChip.isBlocked);
  drive.update(fresh && router.page === 'operate', telemetry, state);
  policyLine.update(fresh ? telemetry : null);
  const { problem = '', isOver = false } = robotLink ?? {};
  const robot = fleetRobot === null ? null : { name: fleetRobot, problem, isOver };
  banner.update({ link: link.status, fresh, telemetry, estopUndelivered: estop.undelivered, paired, robot });
  if (telemetry)
    announcer.announce(`Robot: ${state}. ${sentence(fresh ? (telemetry.robot?.cause ?? '') : '')}`);
  showSlow(performance.now());
}
