import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { TeleopError } from '../../core/errors.ts';
import { endsJpeg, startsJpeg } from '../jpeg-structure.ts';
import type { SourcePlugin } from '../source.ts';

const config = z.strictObject({
  folder: z.string().default('').describe('folder of JPEG files, shown in name order in a loop'),
});

const hint = 'Set options.folder to a folder of .jpg files, and check that they are readable.';

function filesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => /\.jpe?g$/i.test(name));
    if (names.length > 0) return names.sort().map((name) => path.join(folder, name));
  } catch (cause) {
    throw new TeleopError('camera-failed', `cannot list the pictures in ${folder || 'no folder'}`, {
      hint,
      cause,
    });
  }
  throw new TeleopError('camera-failed', `there are no JPEG files in ${folder}`, { hint });
}

const plugin: SourcePlugin<z.infer<typeof config>> = {
  about: 'the JPEG files of a folder, in a loop',
  config,
  async open({ folder }, _format, host) {
    const files = filesIn(folder);
    let next = 0;
    let busy = false;
    let open = true;
    const show = async (captureNs: number): Promise<void> => {
      const file = files[next++ % files.length]!;
      const bytes = await readFile(file).catch(() => null);
      if (!open) return;
      if (bytes !== null && startsJpeg(bytes) && endsJpeg(bytes))
        host.emit({ kind: 'jpeg', bytes }, captureNs);
      else host.fail(new TeleopError('camera-failed', `${file} is not a JPEG picture`, { hint }));
    };
    host.everyFrame((nowNs) => {
      if (!open || busy) return;
      busy = true;
      void show(nowNs).finally(() => {
        busy = false;
      });
    });
    return {
      dispose() {
        open = false;
      },
    };
  },
};

export default plugin;
