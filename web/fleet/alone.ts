import { element, setAttribute, setText } from '../dom.ts';
import { isPaired } from '../link/paired.ts';
import { consoleKind } from '../shell/console-kind.ts';
import { Router } from '../shell/router.ts';
import { startThemeButton } from '../shell/theme.ts';
import { openFleetPage } from './page.tsx';
import { Questions } from './questions.ts';

/** The fleet without a robot that is open: a list, and no stop that would belong to one of them. */
const fleet = consoleKind.fleet!;

document.body.dataset['console'] = 'fleet';
startThemeButton();
const pair = document.querySelector<HTMLElement>('#chip-control a');
if (pair !== null) setText(pair, 'Pair a device');
new Questions(fleet);
const page = openFleetPage(element('page-fleet', HTMLElement), { fleet });
new Router(() => page.setShown(true), ['fleet']).start();
fleet.onMessage(show);
fleet.onStatus(() => void look());
fleet.connect();
window.addEventListener('online', () => fleet.status !== 'open' && fleet.connect());
window.addEventListener('pagehide', () => fleet.leave());
window.addEventListener('pageshow', ({ persisted }) => persisted && location.reload());

let paired = true;

async function look(): Promise<void> {
  if (fleet.status === 'closed') paired = await isPaired();
  else if (fleet.status === 'open') paired = true;
  show();
}

function show(): void {
  const { status, news } = fleet;
  const live = status === 'open' && news?.connected === true;
  setAttribute(element('chip-console', HTMLElement), 'data-tone', live ? 'good' : 'bad');
  setText(
    element('chip-console-text', HTMLElement),
    live ? 'live' : status === 'open' ? 'no broker' : 'offline',
  );
  setText(element('model-title', HTMLElement), news ? `Fleet, as ${news.user}` : 'Fleet');
  const [title, text] = notice(status, news?.connected ?? true);
  element('banner', HTMLElement).hidden = title === '';
  setAttribute(element('banner', HTMLElement), 'data-tone', paired ? 'bad' : 'warn');
  setText(element('banner-title', HTMLElement), title);
  setText(element('banner-text', HTMLElement), text);
  element('banner-pair', HTMLElement).hidden = paired;
}

function notice(status: string, connected: boolean): [string, string] {
  if (!paired)
    return ['This device is not paired', 'It sees nothing of the fleet until it is given the code.'];
  if (status === 'closed') return ['Console disconnected', 'What you see is old; reconnecting…'];
  if (status === 'open' && !connected)
    return ['The broker is not reached', 'What you see is old. Robots look after themselves.'];
  return ['', ''];
}
