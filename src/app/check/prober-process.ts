import { loadLibc } from '../../wire/transports/libc.ts';
import { type ProbeRequest, probe } from './prober.ts';

/** Probes as a process of its own, so that nothing the harness does can delay it: one JSON request, one JSON result. */
const request = JSON.parse(process.argv[2] ?? '{}') as ProbeRequest;
let over = false;
process.on('SIGTERM', () => {
  over = true;
});
process.on('SIGINT', () => {});
const result = await probe(await loadLibc(), request, () => over);
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
