/** Longer lines are rejected without being buffered. */
const MAX_LINE = 1_000_000;

/** Why a line is rejected. */
export class BadLine extends Error {}

/**
 * Answers every line of stdin with one JSON line on stdout, until stdin ends or the reader of stdout is gone. Answers
 * are written once per input chunk, so a slow writer gets each at once and a fast one gets many together, and never
 * faster than they are read. A `BadLine` from `answer` becomes `{"status":"bad-input","reason":…}`.
 */
export async function answerLines(answer: (line: Record<string, unknown>) => unknown): Promise<void> {
  const input = process.stdin.setEncoding('utf8');
  let rest = '';
  let isSkipping = false;
  for await (const chunk of input as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    if (isSkipping && lines.length > 0) {
      lines.shift();
      isSkipping = false;
    }
    let out = lines.map((line) => answerText(line, answer)).join('');
    if (rest.length > MAX_LINE) {
      if (!isSkipping) out += badInput(`the line is longer than ${MAX_LINE} characters`);
      isSkipping = true;
      rest = '';
    }
    if (!(await written(out))) return;
  }
  if (!isSkipping) await written(answerText(rest, answer));
}

const badInput = (reason: string): string => `${JSON.stringify({ status: 'bad-input', reason })}\n`;

function answerText(text: string, answer: (line: Record<string, unknown>) => unknown): string {
  if (text.trim() === '') return '';
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line !== 'object' || line === null || Array.isArray(line))
      return badInput('expected a JSON object');
    return `${JSON.stringify(answer(line as Record<string, unknown>))}\n`;
  } catch (error) {
    if (error instanceof BadLine) return badInput(error.message);
    if (error instanceof SyntaxError) return badInput(`not JSON: ${error.message}`);
    throw error;
  }
}

/** Waits while stdout is full; false if its reader is gone. */
async function written(text: string): Promise<boolean> {
  const out = process.stdout;
  if (out.destroyed) return false;
  if (text !== '' && !out.write(text))
    await new Promise<void>((resolve) => {
      const go = () => {
        for (const event of ['drain', 'close', 'error']) out.off(event, go);
        resolve();
      };
      for (const event of ['drain', 'close', 'error']) out.once(event, go);
    });
  return !out.destroyed;
}

/** Copies `line[key]` into `out`; throws a `BadLine` unless it holds exactly as many finite numbers. */
export function numbersInto(line: Record<string, unknown>, key: string, out: Float64Array): void {
  const values = line[key];
  if (!Array.isArray(values) || values.length !== out.length || !values.every(Number.isFinite))
    throw new BadLine(`${key}: expected ${out.length} finite numbers`);
  out.set(values as number[]);
}
