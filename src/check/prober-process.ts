import { loadLibc } from '../wire/transports/libc.ts';
import { type ProbeRequest, probe } from './prober.ts';

/** Probes in a separate process, which the check cannot delay: one JSON request, one JSON result. */
const request = JSON.parse(process.argv[2] ?? '{}') as ProbeRequest;
let over = false;
const end = () => {
  over = true;
};
process.on('SIGTERM', end);
// The check holds stdin open; if it dies, the probes end.
process.stdin.on('close', end).resume();
process.on('SIGINT', () => {});
const libc = await loadLibc();
// From here on an end request is answered with a result.
process.stdout.write('\n');
const result = await probe(libc, request, () => over);
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
