import { consoleKind } from './shell/console-kind.ts';

/** The fleet alone needs nothing of what drives a robot. */
if (consoleKind.fleet !== null && consoleKind.robot === null) await import('./fleet/alone.ts');
else await import('./main.ts');
