import type { Telemetry } from '../src/core/telemetry.ts';
import { atMostEvery, element, setText } from './dom.ts';
import { Drive } from './drive/drive.ts';
import { ControlChip } from './link/control-chip.ts';
import type { ServerMessage } from './link/messages.ts';
import { ConsoleLink, type LinkStatus, socketUrl } from './link/socket.ts';
import { Banner } from './panels/banner.ts';
import { CountersDrawer } from './panels/counters.ts';
import { Estop } from './panels/estop.ts';
import { FingersPanel } from './panels/fingers-panel.ts';
import { HeaderChips } from './panels/header.ts';
import { LatencyPanel } from './panels/latency-panel.ts';
import { believedState, StatePanel } from './panels/state-panel.ts';
import { chooseQuality } from './view/quality.ts';
import { RobotView } from './view/robot-view.ts';

declare global {
  interface Window {
    /** For tests of the page; nothing else reads it. */
    __farhand: { frames: number; lastTelemetry: Telemetry | null };
  }
}

/** Telemetry older than this describes the past. */
const STALE_MS = 1000;
const WATCH_MS = 100;

window.__farhand = { frames: 0, lastTelemetry: null };

const link = new ConsoleLink(socketUrl(location), { onMessage: receive, onStatus: linkChanged });
const view = openView();
const latency = new LatencyPanel((request) => link.send(request));
const counters = new CountersDrawer();
const fingers = new FingersPanel();
const chips = new HeaderChips();
const banner = new Banner();
const drive = new Drive({
  fresh: (request) => link.sendFresh(request),
  sure: (request) => link.send(request),
});
const estop = new Estop(
  (request) => link.send(request),
  () => drive.letGo(),
);
const statePanel = new StatePanel((request) => link.send(request));

let receivedMs = Number.NEGATIVE_INFINITY;
const showSlow = atMostEvery(250, () => {
  const telemetry = window.__farhand.lastTelemetry;
  chips.update(link.status, isFresh(), telemetry);
  if (telemetry) counters.update(telemetry.counters);
});

element('view-reset', HTMLButtonElement).addEventListener('click', () => view?.resetCamera());
window.addEventListener('online', () => link.status !== 'open' && link.connect());
setInterval(watch, WATCH_MS);
const drivePanel = element('drive', HTMLElement);
new ResizeObserver(leaveRoom).observe(drivePanel);
new ControlChip(link);
link.connect();

function openView(): RobotView | null {
  const quality = chooseQuality(location.search, devicePixelRatio);
  element('view-failed', HTMLElement).hidden = quality !== null;
  if (quality === null) return null;
  return new RobotView(element('view', HTMLCanvasElement), quality, () => {
    window.__farhand.frames++;
  });
}

function receive(message: ServerMessage): void {
  if (message.kind === 'hello') {
    setText(element('model-title', HTMLElement), message.model.title);
    view?.setModel(message.model);
    fingers.setModel(message.model);
    return;
  }
  const nowMs = performance.now();
  receivedMs = nowMs;
  window.__farhand.lastTelemetry = message;
  view?.show(message, nowMs);
  latency.add(message, nowMs);
  fingers.show(message);
  showState();
}

function linkChanged(status: LinkStatus): void {
  if (status === 'closed') receivedMs = Number.NEGATIVE_INFINITY;
  if (status === 'open') latency.clear();
  showState();
  chips.update(status, isFresh(), window.__farhand.lastTelemetry);
}

/** Catches what no message announces: silence. */
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
  estop.update(state === 'stopped', performance.now());
  statePanel.update(telemetry, fresh, estop.pending);
  drive.update(fresh, telemetry?.input.active ?? '', state);
  banner.update({ link: link.status, fresh, telemetry, estopUndelivered: estop.undelivered });
  showSlow(performance.now());
}

/** On a narrow screen the drive panel is below the view and covers nothing. */
function leaveRoom(): void {
  const covers = !drivePanel.hidden && getComputedStyle(drivePanel).position === 'absolute';
  view?.leaveRoom(covers ? drivePanel.offsetWidth * 0.25 : 0, covers ? drivePanel.offsetHeight * 0.2 : 0);
}
