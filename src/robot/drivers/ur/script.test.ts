import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controlScript } from './script.ts';

const script = controlScript({
  host: '10.1.2.3',
  port: 50001,
  token: 123456,
  stepS: 0.002,
  lookaheadS: 0.1,
  gain: 300,
  stopRadS2: 10,
  extrapolateS: 0.02,
  firstFrameS: 2,
  maxStepRadS: 20,
});
const lines = script.split('\n');

/** Not an interpreter: catches typing errors. The text has not run on a real controller. */
describe('control program', () => {
  it('is plain text that ends with a line end, as the controller requires', () => {
    assert.match(script, /^def farhand\(\):\n[\x20-\x7e\n]*\nend\n$/);
    assert.ok(script.length < 5000);
  });

  it('closes every block, each at the column that opened it', () => {
    const open: number[] = [];
    for (const line of lines) {
      const column = line.search(/\S/);
      const word = line.trim();
      if (/^(def|thread|while|if) .*:$|^(def|thread) /.test(word)) open.push(column);
      else if (/^(elif .*|else):$/.test(word)) assert.equal(column, open.at(-1), line);
      else if (word === 'end') assert.equal(open.pop(), column, line);
    }
    assert.deepEqual(open, []);
  });

  it('leaves every critical section it enters', () => {
    const of = (word: string) => lines.filter((line) => line.trim() === word).length;
    assert.equal(of('enter_critical'), 2);
    assert.equal(of('exit_critical'), 2);
  });

  it('uses no undefined name', () => {
    const used = new Set(script.match(/\bfh_\w+/g));
    const given = new Set([...script.matchAll(/\b(fh_\w+)(?: =|\(\):)/g)].map((match) => match[1]!));
    assert.deepEqual(
      [...used].filter((name) => !given.has(name)),
      [],
    );
  });

  it('carries its parameters', () => {
    for (const line of [
      'fh_host = "10.1.2.3"',
      'fh_port = 50001',
      'fh_token = 123456',
      'fh_extrapolate_steps = 10',
    ])
      assert.ok(lines.includes(`  global ${line}`), line);
    assert.ok(lines.includes('  global fh_gain = 300.0'), 'a whole number is still a float');
  });

  it('stops and ends on every exit from its loop', () => {
    const tail = lines.slice(lines.indexOf('  kill fh_thread')).map((line) => line.trim());
    assert.deepEqual(tail, ['kill fh_thread', 'stopj(fh_stop_rad_s2)', 'socket_close("farhand")', 'end', '']);
  });
});
