import { allocationByRole } from './role-allocation.ts';

Error.stackTraceLimit = 0;
console.log(JSON.stringify(await allocationByRole(true, globalThis.gc as () => void)));
