import { renderSVG } from 'uqr';
import { create, element, setText } from '../dom.ts';

interface Device {
  id: string;
  name: string;
  role: string;
  expiresAt: string;
}
interface News {
  role: 'operator' | 'viewer' | null;
  name?: string;
  secure?: boolean;
  devices?: Device[];
  lan?: { url: string } | null;
}

const REASONS: Record<string, string> = {
  'no-code':
    'There is no code at the moment: it was used, has expired, or was guessed at too often. Ask for a new one.',
  'wrong-code': 'That is not the code. After five wrong ones it is void.',
  'rate-limited': 'Too many tries. Wait a minute.',
  malformed: 'A code has six digits.',
  insecure: 'Pairing needs HTTPS.',
  'not-allowed': 'Only an operator may do that.',
};

const said = element('said', HTMLElement);

async function ask(what: string, body?: object): Promise<Record<string, unknown>> {
  const options = body ? { method: 'POST', body: JSON.stringify(body) } : {};
  const response = await fetch(`./api/access${what}`, options);
  return (await response.json()) as Record<string, unknown>;
}

/** The address another device should open: this one, or where other machines reach this one. */
function publicUrl(news: News): string {
  return new URL('vr', news.lan?.url ?? location.href).href;
}

async function show(): Promise<void> {
  const news = (await ask('')) as unknown as News;
  element('enter', HTMLElement).hidden = news.role !== null;
  element('offer', HTMLElement).hidden = news.role !== 'operator';
  if (news.role === 'viewer') setText(said, `${news.name} may look on, and stop the robot.`);
  if (news.role !== 'operator') return;
  setText(element('who', HTMLElement), news.name ?? '');
  element('local-only', HTMLElement).hidden = news.lan !== null;
  const link = element('lan-url', HTMLAnchorElement);
  link.href = publicUrl(news);
  setText(link, link.href);
  element('devices', HTMLElement).replaceChildren(...(news.devices ?? []).map(deviceLine));
}

function deviceLine(device: Device): HTMLElement {
  const line = create('li', '', `${device.name} · ${device.role} · until ${device.expiresAt.slice(0, 10)}`);
  const button = create('button', '', 'Forget');
  button.addEventListener('click', () => void ask('/forget', { id: device.id }).then(show));
  line.append(button);
  return line;
}

async function offer(role: string): Promise<void> {
  const { code, lan } = await ask('/code', { role });
  const url = new URL('pair', publicUrl({ role: 'operator', lan: (lan as News['lan']) ?? null }));
  url.hash = String(code);
  setText(element('shown-code', HTMLElement), String(code).replace(/(...)/, '$1 '));
  setText(element('shown-about', HTMLElement), `For one ${role}, within five minutes.`);
  element('qr', HTMLElement).innerHTML = renderSVG(url.href, { border: 1 });
  element('shown', HTMLElement).hidden = false;
}

async function pair(): Promise<void> {
  const code = element('code', HTMLInputElement).value;
  const answer = await ask('/pair', { code, name: element('name', HTMLInputElement).value });
  if (answer['reason'] !== undefined) {
    setText(said, REASONS[String(answer['reason'])] ?? String(answer['reason']));
    return;
  }
  setText(said, `Paired as ${answer['role']}.`);
  history.replaceState(null, '', location.pathname);
  await show();
}

element('form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void pair();
});
for (const role of ['operator', 'viewer'])
  element(`offer-${role}`, HTMLButtonElement).addEventListener('click', () => void offer(role));
element('code', HTMLInputElement).value = location.hash.slice(1);
element('name', HTMLInputElement).value = /Quest/.test(navigator.userAgent) ? 'Quest' : 'Headset';
await show();
