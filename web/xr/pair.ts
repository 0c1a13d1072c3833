import { renderSVG } from 'uqr';
import { create, element, setText } from '../dom.ts';

interface Device {
  id: string;
  name: string;
  role: string;
  expiresAt: string;
}
interface Access {
  role: 'operator' | 'viewer' | null;
  name?: string;
  secure?: boolean;
  devices?: Device[];
  lan?: { url: string } | null;
}

const REASONS: Record<string, string> = {
  'no-code':
    'No valid code: it was used, expired, or entered wrong too often. Get a new code from an operator.',
  'wrong-code': 'Wrong code. Five wrong entries make the code invalid.',
  'rate-limited': 'Too many attempts. Wait a minute.',
  malformed: 'Enter a code of six digits.',
  insecure: 'Pairing needs HTTPS.',
  'not-allowed': 'Only an operator can do this.',
};

const isHeadset = /Quest|Pico|OculusBrowser/.test(navigator.userAgent);
const isPhone = /Android|iPhone|iPad/.test(navigator.userAgent);
/** Time to read that it worked. */
const RETURN_AFTER_MS = 900;

const message = element('message', HTMLElement);

async function callApi(what: string, body?: object): Promise<Record<string, unknown>> {
  const options = body ? { method: 'POST', body: JSON.stringify(body) } : {};
  const response = await fetch(`./api/access${what}`, options);
  return (await response.json()) as Record<string, unknown>;
}

/** The address for other devices: the LAN address if there is one, else this one. */
function publicUrl(access: Access): string {
  return new URL('vr', access.lan?.url ?? location.href).href;
}

async function show(): Promise<void> {
  const access = (await callApi('')) as unknown as Access;
  element('enter', HTMLElement).hidden = access.role !== null;
  element('offer', HTMLElement).hidden = access.role !== 'operator';
  if (access.role === 'viewer')
    setText(message, `${access.name} is paired as viewer and can watch and stop the robot.`);
  if (access.role !== 'operator') return;
  setText(element('who', HTMLElement), access.name ?? '');
  const isLocal = access.lan === null;
  element('local-only', HTMLElement).hidden = !isLocal;
  element('lan-only', HTMLElement).hidden = isLocal;
  const link = element('lan-url', HTMLAnchorElement);
  link.href = publicUrl(access);
  setText(link, link.href);
  const { devices = [] } = access;
  const lines = devices.length === 0 ? [create('li', 'muted', 'None')] : devices.map(deviceLine);
  element('devices', HTMLElement).replaceChildren(...lines);
}

function deviceLine(device: Device): HTMLElement {
  const line = create('li', '', `${device.name} · ${device.role} · until ${device.expiresAt.slice(0, 10)}`);
  const button = create('button', '', 'Forget');
  button.addEventListener('click', () => void callApi('/forget', { id: device.id }).then(show));
  line.append(button);
  return line;
}

async function offer(role: string): Promise<void> {
  const { code, lan } = await callApi('/code', { role });
  const url = new URL('pair', publicUrl({ role: 'operator', lan: (lan as Access['lan']) ?? null }));
  url.hash = String(code);
  setText(element('shown-code', HTMLElement), String(code).replace(/(...)/, '$1 '));
  setText(element('shown-about', HTMLElement), `Pairs one ${role}. Valid for five minutes.`);
  element('qr', HTMLElement).innerHTML = renderSVG(url.href, { border: 1 });
  element('shown', HTMLElement).hidden = false;
}

async function pair(): Promise<void> {
  const code = element('code', HTMLInputElement).value;
  const answer = await callApi('/pair', { code, name: element('name', HTMLInputElement).value });
  if (answer['reason'] !== undefined) {
    setText(message, REASONS[String(answer['reason'])] ?? String(answer['reason']));
    return;
  }
  setText(message, `Paired as ${answer['role']}.`);
  setTimeout(goBack, RETURN_AFTER_MS);
}

/** To where the visitor came from, on this console only. A headset or phone that scanned the code came from nowhere. */
function goBack(): void {
  const from = new URLSearchParams(location.search).get('back');
  const back = from === null ? null : URL.parse(from, location.origin);
  if (back?.origin === location.origin) location.replace(back.href);
  else location.replace(isHeadset ? './vr' : './');
}

element('form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void pair();
});
for (const role of ['operator', 'viewer'])
  element(`offer-${role}`, HTMLButtonElement).addEventListener('click', () => void offer(role));
element('code', HTMLInputElement).value = location.hash.slice(1);
element('name', HTMLInputElement).value = isHeadset ? 'Headset' : isPhone ? 'Phone' : 'Computer';
await show();
