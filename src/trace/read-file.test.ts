import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { emptyTraceRecord } from '../messages/trace-record.ts';
import { LineSplitter, MAX_LINE_BYTES } from './lines.ts';
import { readTraceFile, readTraceParts } from './read-file.ts';
import { footerLine, headerLine, traceLine } from './stamps.ts';

const dir = temporaryFolder('read');

const header = headerLine({
  startedAt: new Date('2026-05-11T08:14:22Z'),
  session: 1,
  role: 'operator',
  stampSource: 'kernel',
  playout: 'none',
  rig: {},
});
const line = (seq: number) =>
  traceLine({ ...emptyTraceRecord(), session: 1, seq, outcome: 0, sampledNs: seq * 1e7 });

let files = 0;
function fileWith(content: string | Buffer, name = `${files++}.jsonl`): string {
  const path = join(dir, name);
  writeFileSync(path, content);
  return path;
}

async function seqsOf(path: string) {
  const seqs: number[] = [];
  const info = await readTraceFile(path, (record) => seqs.push(record.seq));
  return { seqs, info };
}

describe('reading a trace', () => {
  it('reads traces of earlier versions, which name `operator.sampled` `leader.get_state`', async () => {
    const sampledNs: number[] = [];
    const path = 'test/data/traces/earlier-version.jsonl';
    const info = await readTraceFile(path, (record) => sampledNs.push(record.sampledNs));
    assert.deepEqual(sampledNs, [12_345_610_000_000, 12_345_620_000_000, 12_345_630_000_000]);
    assert.equal(info.bad, 0);
  });

  it('gives up on what never becomes a trace, even if it never ends', async () => {
    await assert.rejects(
      readTraceFile('/dev/zero', () => {}),
      /\/dev\/zero is not a trace/,
    );
  });

  it('reads a closed file', async () => {
    const path = fileWith(
      [header, line(1), '', line(2), '{"kind":"video"}', footerLine(2, 5), ''].join('\n'),
    );
    const { seqs, info } = await seqsOf(path);
    assert.deepEqual(seqs, [1, 2]);
    assert.equal(info.header?.playout, 'none');
    assert.deepEqual(info.footer, { kind: 'footer', closed: 2, ringDropped: 5, nextPart: null });
    assert.deepEqual([info.path, info.commands, info.bad, info.torn], [path, 2, 0, 0]);
  });

  it('survives a cut at any byte', async () => {
    const whole = `${header}\n${line(1)}\n${line(2)}\n`;
    const first = header.length + 1 + line(1).length;
    for (let cut = first; cut <= whole.length; cut++) {
      const { seqs, info } = await seqsOf(fileWith(whole.slice(0, cut), 'cut.jsonl'));
      const second = cut >= whole.length - 1;
      assert.deepEqual(seqs, second ? [1, 2] : [1]);
      assert.equal(info.torn, !second && cut > first + 1 ? 1 : 0);
      assert.deepEqual([info.bad, info.footer], [0, null]);
    }
  });

  it('skips unreadable lines of any length', async () => {
    const junk = Buffer.concat([
      Buffer.from([0, 255, 254, 10]),
      Buffer.alloc(3 * MAX_LINE_BYTES, 'x'),
      Buffer.from('\n'),
    ]);
    const path = fileWith(
      Buffer.concat([junk, Buffer.from(`${line(1)}\r\n{"kind":"teleop_cmd"}\n${line(2)}`)]),
    );
    const { seqs, info } = await seqsOf(path);
    assert.deepEqual(seqs, [1, 2]);
    assert.deepEqual([info.header, info.bad, info.torn], [null, 3, 0]);
  });

  it('reports progress to the last byte', async () => {
    const content = `${header}\n${Array.from({ length: 9000 }, (_, i) => line(i)).join('\n')}\n`;
    const seen: [number, number][] = [];
    await readTraceFile(
      fileWith(content),
      () => {},
      (read, total) => seen.push([read, total]),
    );
    assert(seen.length > 1);
    assert.deepEqual(seen.at(-1), [content.length, content.length]);
  });

  it('continues with the following parts', async () => {
    const name = 'robot_trace_20260511-081422_00000001';
    fileWith(`${line(2)}\n`, `${name}_2.jsonl`);
    fileWith(`${line(3)}\n`, `${name}_3.jsonl`);
    const seqs: number[] = [];
    const infos = await readTraceParts(fileWith(`${header}\n${line(1)}\n`, `${name}.jsonl`), ({ seq }) =>
      seqs.push(seq),
    );
    assert.deepEqual(seqs, [1, 2, 3]);
    assert.deepEqual(
      infos.map(({ commands }) => commands),
      [1, 1, 1],
    );
  });

  it('fails with a code and a hint', async () => {
    const failing: [string, string, RegExp][] = [
      [join(dir, 'absent.jsonl'), 'file-missing', /no file/],
      [dir, 'file-unreadable', /cannot be read/],
      [fileWith(''), 'no-trace', /contains no command/],
      [fileWith(`${header}\n${footerLine(0, 0)}\n`), 'no-trace', /contains no command/],
      [fileWith('once upon a time\n'), 'no-trace', /is not a trace/],
      [fileWith(Buffer.alloc(2 * MAX_LINE_BYTES, 'x')), 'no-trace', /is not a trace/],
      [fileWith(`${header.replace('trace/1', 'trace/9')}\n${line(1)}\n`), 'no-trace', /format/],
    ];
    for (const [path, code, message] of failing) {
      await assert.rejects(
        readTraceFile(path, () => {}),
        (error: Error & { code?: string; hint?: string }) => {
          assert.equal(error.code, code, path);
          assert.match(error.message, message);
          assert(error.hint);
          return true;
        },
      );
    }
  });
});

it('splits lines the same way however the bytes arrive', () => {
  const text = fc
    .array(fc.constantFrom('a', 'ü', '\n', '{"x":1}\n'), { maxLength: 40 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.array(fc.nat(20)), (whole, sizes) => {
      const lines: string[] = [];
      const splitter = new LineSplitter((line) => lines.push(line), assert.fail);
      const bytes = Buffer.from(whole);
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const chunk = Buffer.from(bytes.subarray(at, at + (sizes[i] ?? 7)));
        splitter.push(chunk);
        at += chunk.length;
        chunk.fill(0xee);
      }
      const rest = splitter.end();
      assert.deepEqual([...lines, rest ?? ''], whole.split('\n'));
    }),
  );
});
