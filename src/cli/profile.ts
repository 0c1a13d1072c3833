import { startProfiler } from '../profiler/profile-server.ts';
import { expectWords, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { onEndRequest } from './process.ts';
import { whereOf } from './top.ts';

const PORT = 4748;

export const profileVerb: Verb = {
  name: 'profile',
  usage: '[DIR|FILE] [key=value …]',
  about: 'Serves live percentiles, time series and bad seconds of a run on loopback, from its trace file.',
  details: `Follows the newest trace in DIR (default: trace.dir of the rig), or one FILE, in a separate process.
GET /api/profile returns one snapshot as JSON; the WebSocket /live sends four a second. Loopback only.`,
  examples: ['farhand profile', 'farhand profile traces --port 0'],
  options: {
    rig: RIG_OPTION,
    port: { type: 'string', value: 'PORT', about: `TCP port on 127.0.0.1 (default: ${PORT}; 0: any)` },
  },
  async run(given) {
    expectWords(profileVerb, given, 0, 1);
    const profiler = await startProfiler(whereOf(given), numberOption(given, 'port', 0, 65535) ?? PORT);
    console.log(
      `Profiler on ${profiler.url}api/profile and ${profiler.url.replace('http', 'ws')}live (press Ctrl-C to end)`,
    );
    await new Promise<void>((resolve) => onEndRequest(resolve));
    await profiler.close();
    return 0;
  },
};
