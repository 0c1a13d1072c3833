import { renderUnicodeCompact } from 'uqr';
import type { ParentMessage } from '../app/child.ts';
import { openConsole } from '../app/open-console.ts';
import { preflight } from '../app/preflight.ts';
import { DeviceStore } from '../console/devices.ts';
import type { ConsoleHandle } from '../console/server.ts';
import { loadRig } from '../rig/rig.ts';
import { expectWords, type Given, RIG_OPTION, type Verb } from './arguments.ts';
import { onEndRequest, parentChannel } from './process.ts';

export const consoleVerb: Verb = {
  name: 'console',
  usage: '[--rig NAME|FILE] [--lan] [key=value …]',
  about: 'Serves the web page that shows, drives and stops the robot, beside a running operator.',
  details: `
With --lan, other machines and headsets can reach it too, over HTTPS with a self-signed certificate. They must be paired
with the code it prints. See docs/headset.md.`,
  examples: ['farhand console', 'farhand console --lan', 'farhand console --devices'],
  options: {
    rig: RIG_OPTION,
    lan: { type: 'boolean', about: 'open to the network: console.host=0.0.0.0 console.https=true' },
    devices: { type: 'boolean', about: 'list the paired devices and exit' },
    forget: { type: 'string', value: 'NAME', about: 'remove a paired device, by name or id, and exit' },
  },
  async run(given: Given) {
    expectWords(consoleVerb, given, 0, 0);
    if (given.values['devices']) return listDevices();
    if (given.values['forget'] !== undefined) return forgetDevice(String(given.values['forget']));
    const open = given.values['lan'] ? ['console.host=0.0.0.0', 'console.https=true'] : [];
    const rig = String(given.values['rig'] ?? 'demo');
    const { config } = loadRig(rig, [...open, ...given.overrides]);
    await preflight(config, ['console']);
    const ended = new Promise<void>((resolve) => onEndRequest(resolve));
    const sendToParent = parentChannel();
    const askLink = (profile: string) => void sendToParent({ kind: 'link', profile });
    const rigArgs = ['--rig', rig, ...given.overrides];
    const handle = await openConsole(config, { rigArgs, ...(process.connected && { askLink }) });
    process.on('message', (message: ParentMessage) => {
      if (message.kind === 'link') handle.sendLink(message.link);
    });
    const lan = lanText(handle);
    void sendToParent({ kind: 'ready', info: { url: handle.url, lan } });
    console.log(`console: ${handle.url}\n${lan}`.trimEnd());
    await ended;
    await handle.close();
    return 0;
  },
};

/** How other machines reach the page, with a new pairing code, in lines; empty if they cannot. */
export function lanText({ lan, pairing }: Pick<ConsoleHandle, 'lan' | 'pairing'>): string {
  if (lan === null) return '';
  const { code } = pairing.issue('operator');
  const picture = process.stdout.isTTY
    ? `\n${renderUnicodeCompact(`${lan.url}pair#${code}`, { border: 2 })}\n`
    : '';
  return `  other machines: ${lan.url}, headsets: ${lan.url}vr
  first visit: ${lan.trustUrl} (how to trust this machine’s certificate)
  certificate SHA-256: ${lan.fingerprint}
${picture}  pairing code: ${code} (valid for five minutes, for one operator; scan it with a phone or headset; more on the page under Control)
`;
}

function listDevices(): number {
  const store = new DeviceStore();
  store.check();
  const devices = store.list();
  if (devices.length === 0) console.log('no paired devices');
  for (const { id, name, role, createdAt, expiresAt } of devices)
    console.log(`${id}  ${role.padEnd(8)}  ${createdAt.slice(0, 10)} … ${expiresAt.slice(0, 10)}  ${name}`);
  return 0;
}

function forgetDevice(name: string): number {
  const forgotten = new DeviceStore().forget(name);
  console.log(forgotten === 0 ? `no device named ${name}` : `devices removed: ${forgotten}`);
  return forgotten === 0 ? 1 : 0;
}
