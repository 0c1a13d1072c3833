import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Lifetime } from './lifetime.ts';

describe('a lifetime', () => {
  it('ends resources newest first, once', async () => {
    const life = new Lifetime();
    const ended: string[] = [];
    for (const name of ['a', 'b', 'c']) life.own(name, (each) => ended.push(each));
    await life.end();
    await life.end();
    assert.deepEqual(ended, ['c', 'b', 'a']);
  });

  it('ends what a set-up had started when it throws, and rethrows its error', async () => {
    const life = new Lifetime();
    const ended: string[] = [];
    const setUp = life.setUp(async () => {
      life.own('first', (each) => ended.push(each));
      life.own('second', () => Promise.reject(new Error('end failed')));
      throw new Error('set-up failed');
    });
    await assert.rejects(setUp, /set-up failed/);
    assert.deepEqual(ended, ['first']);
  });

  it('tries every end and reports the first that failed', async () => {
    const life = new Lifetime();
    const ended: string[] = [];
    life.own('kept', (each) => ended.push(each));
    life.own('late', () => Promise.reject(new Error('second')));
    life.own('early', () => Promise.reject(new Error('first')));
    await assert.rejects(life.end(), /first/);
    assert.deepEqual(ended, ['kept']);
  });
});
