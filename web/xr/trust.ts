import { renderSVG } from 'uqr';
import { element, setText } from '../dom.ts';

/** Served over plain HTTP: explains how to trust the console's certificate. */
const secure = `https://${location.host}/`;
const link = element('secure', HTMLAnchorElement);
link.href = secure;
setText(link, secure);
const port = location.port || '80';
setText(element('reverse', HTMLElement), `adb reverse tcp:${port} tcp:${port}`);
setText(element('reverse-url', HTMLElement), `http://localhost:${port}/vr`);
element('qr', HTMLElement).innerHTML = renderSVG(secure, { border: 1 });
setText(element('qr-text', HTMLElement), secure);

const response = await fetch('./authority.json');
if (response.ok) {
  const { name, fingerprint } = (await response.json()) as { name: string; fingerprint: string };
  setText(element('fingerprint', HTMLElement), `${name} · SHA-256 ${fingerprint}`);
} else {
  // Without HTTPS only this machine reaches the console, and a headset only over a cable.
  for (const part of document.querySelectorAll<HTMLElement>('[data-secure]')) part.hidden = true;
  element('local-only', HTMLElement).hidden = false;
}
