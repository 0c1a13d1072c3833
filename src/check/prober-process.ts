import { loadLibc } from '../wire/transports/libc.ts';
import { type ProbeRequest, probe } from './prober.ts';

/** Probes as a process of its own, so that nothing the harness does can delay it: one JSON request, one JSON result. */
const request = JSON.parse(process.argv[2] ?? '{}') as ProbeRequest;
let over = false;
const end = () => {
  over = true;
};
process.on('SIGTERM', end);
// Held open by whoever started us: nobody probes for a harness that is gone.
process.stdin.on('close', end).resume();
process.on('SIGINT', () => {});
const result = await probe(await loadLibc(), request, () => over);
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
