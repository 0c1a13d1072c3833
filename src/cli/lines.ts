import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { TeleopError } from '../core/errors.ts';

/** Non-empty lines as they arrive; `-` is standard input. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  if (file !== '-' && !existsSync(file))
    throw new TeleopError('file-missing', `${file} does not exist`, {
      hint: 'Give the path of an existing file.',
    });
  const input = file === '-' ? process.stdin : createReadStream(file);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  try {
    for await (const line of lines) if (line.trim() !== '') yield line.trim();
  } finally {
    lines.close();
  }
}
