import { consoleKind } from './shell/console-kind.ts';

/** The fleet list alone loads none of the code that drives a robot. */
if (consoleKind.fleet !== null && consoleKind.robot === null) await import('./fleet/fleet-only.ts');
else await import('./main.ts');
