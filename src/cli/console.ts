import type { ParentMessage } from '../app/child.ts';
import { startConsole } from '../app/console/server.ts';
import { loadRig } from '../app/rig.ts';
import { expectWords, type Given, RIG_OPTION, type Verb } from './arguments.ts';
import { onEndRequest, parentChannel } from './process.ts';

export const consoleVerb: Verb = {
  name: 'console',
  usage: '[--rig NAME|FILE] [key=value …]',
  about: 'Serves the web page that shows, drives and stops the robot, beside a running operator.',
  options: { rig: RIG_OPTION },
  async run(given: Given) {
    expectWords(consoleVerb, given, 0, 0);
    const { config } = loadRig(String(given.values['rig'] ?? 'demo'), given.overrides);
    const ended = new Promise<void>((resolve) => onEndRequest(resolve));
    const tell = parentChannel();
    const askLink = (profile: string) => void tell({ kind: 'link', profile });
    const handle = await startConsole(config, process.connected ? { askLink } : {});
    process.on('message', (message: ParentMessage) => {
      if (message.kind === 'link') handle.tellLink(message.link);
    });
    void tell({ kind: 'ready', info: { url: handle.url } });
    console.log(`console: ${handle.url}`);
    await ended;
    await handle.close();
    return 0;
  },
};
