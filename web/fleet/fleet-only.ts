import { element, setAttribute, setText } from '../dom.ts';
import { isPaired } from '../link/paired.ts';
import { consoleKind } from '../shell/console-kind.ts';
import { Router } from '../shell/router.ts';
import { startThemeButton } from '../shell/theme.ts';
import { HandoverRequests } from './handover-requests.ts';
import { openFleetPage } from './page.tsx';

/** The fleet list without an open robot. There is no page-wide e-stop, because each row has its own. */
const fleet = consoleKind.fleet!;

document.body.dataset['console'] = 'fleet';
startThemeButton();
const pair = document.querySelector<HTMLElement>('#chip-control a');
if (pair !== null) setText(pair, 'Pair a device');
new HandoverRequests(fleet);
const page = openFleetPage(element('page-fleet', HTMLElement), { fleet });
new Router(() => page.setShown(true), ['fleet']).start();
fleet.onMessage(show);
fleet.onStatus(() => void checkPairing());
fleet.connect();
window.addEventListener('online', () => fleet.status !== 'open' && fleet.connect());
window.addEventListener('pagehide', () => fleet.close());
window.addEventListener('pageshow', ({ persisted }) => persisted && location.reload());

let paired = true;

async function checkPairing(): Promise<void> {
  if (fleet.status === 'closed') paired = await isPaired();
  else if (fleet.status === 'open') paired = true;
  show();
}

function show(): void {
  const { status, info } = fleet;
  const live = status === 'open' && info?.connected === true;
  setAttribute(element('chip-console', HTMLElement), 'data-tone', live ? 'good' : 'bad');
  setText(
    element('chip-console-text', HTMLElement),
    live ? 'live' : status === 'open' ? 'no broker' : 'offline',
  );
  setText(element('model-title', HTMLElement), info ? `Fleet, as ${info.user}` : 'Fleet');
  const [title, text] = notice(status, info?.connected ?? true);
  element('banner', HTMLElement).hidden = title === '';
  setAttribute(element('banner', HTMLElement), 'data-tone', paired ? 'bad' : 'warn');
  setText(element('banner-title', HTMLElement), title);
  setText(element('banner-text', HTMLElement), text);
  element('banner-pair', HTMLElement).hidden = paired;
}

function notice(status: string, connected: boolean): [string, string] {
  if (!paired)
    return ['Device not paired', 'To see the fleet, pair this device with the code from the console.'];
  if (status === 'closed') return ['Console disconnected', 'The page shows old data. Reconnecting…'];
  if (status === 'open' && !connected)
    return ['Cannot reach the broker', 'The page shows old data. The robots’ watchdogs keep them safe.'];
  return ['', ''];
}
