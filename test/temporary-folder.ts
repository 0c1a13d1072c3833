import { temporaryFolder as create } from '../src/files/temporary-folder.ts';

/** An empty folder, removed when the test file ends. */
export const temporaryFolder = (purpose = 'test'): string => create(purpose).path;
