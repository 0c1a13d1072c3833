import { TeleopError } from '../../core/errors.ts';
import type { PageOperatorMessage, PageOperatorStart } from '../../fleet/page-operator/operator-process.ts';
import { episodeText } from '../../record/quality-text.ts';
import { startRole } from '../role.ts';

/** An operator process beside the robot that runs while a page drives it. */

/** After this the process exits at once. */
const END_MS = 3000;

const post = (message: PageOperatorMessage) => {
  if (process.connected) process.send?.(message);
};

process.once('message', ({ rig, key }: PageOperatorStart) => {
  const handle = startRole(
    'operator',
    rig,
    () => {},
    (info, file) => console.error(episodeText(info, file)),
    [key],
  );
  const end = () => {
    setTimeout(() => process.exit(1), END_MS).unref();
    handle.windDown();
  };
  process.on('SIGTERM', end);
  process.on('disconnect', end);
  handle.ready.then(
    ({ tracePath }) => post({ kind: 'ready', tracePath }),
    (error: unknown) => post({ kind: 'failed', text: textOf(error) }),
  );
  handle.done.then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
// Ctrl-C reaches every process of a terminal; the robot process ends this one.
process.on('SIGINT', () => {});

const textOf = (error: unknown): string =>
  error instanceof TeleopError ? `${error.message}. ${error.hint}` : String(error);
