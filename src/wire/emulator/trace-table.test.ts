import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseTraceTable, traceDelayNs } from './trace-table.ts';

const MS = 1e6;
const TEXT =
  '# made up\r\nseq,send_us,delay_us\r\n0,10000,2000\r\n1,20000,\r\n2,30000,5000.5\r\n\r\n3,40000,0\r\n';

describe('delay trace', () => {
  it('returns the last row sent by then, and wraps around', () => {
    const table = parseTraceTable(TEXT, 'x.csv');
    const at = (ms: number) => traceDelayNs(table, ms * MS) / MS;
    assert.equal(table.periodNs, 50 * MS);
    assert.deepEqual([at(10), at(19.999), at(30), at(39), at(40), at(49.9)], [2, 2, 5.0005, 5.0005, 0, 0]);
    assert.ok(Number.isNaN(at(20)) && Number.isNaN(at(29.9)), 'lost');
    assert.equal(at(0), 0, 'before the first row: the last row of the previous round');
    assert.deepEqual([at(60), at(80), at(50 * 1e6 + 10)], [2, 5.0005, 2]);
  });

  it('removes known clock errors', () => {
    const rows = [
      'seq,send_us,delay_us,clk_us',
      '0,10000,12000,-10000',
      '1,0,22000,',
      '2,10000,22000,-20000',
    ];
    const table = parseTraceTable(rows.join('\n'), 'x.csv');
    assert.deepEqual([...table.sendNs], [15e6, 20e6, 30e6]);
    assert.deepEqual([...table.delayNs], [7e6, 2e6, 2e6], 'in true sending order');
  });

  it('names the file and line it cannot read', () => {
    const wrong: [string, RegExp][] = [
      ['', /holds 0 rows/],
      ['0,0,1\n', /holds 1 rows/],
      ['0,0,1\n1,x,2\n', /x\.csv, line 2/],
      ['0,0,1\n1,10\n', /line 2/],
      ['0,0,1\n1,10,1e12\n', /line 2/],
      ['0,5,1\n1,5,1\n', /increase/],
      ['\0\0\0', /line 1/],
    ];
    for (const [text, message] of wrong)
      assert.throws(() => parseTraceTable(text, 'x.csv'), { code: 'file-unreadable', message });
  });
});
