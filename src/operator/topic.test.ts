import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Topic } from './topic.ts';

describe('topic', () => {
  it('calls its subscribers inline, in order of subscription', () => {
    const topic = new Topic<number>();
    const received: string[] = [];
    topic.publish(0);
    topic.subscribe((value) => received.push(`a${value}`));
    topic.subscribe((value) => received.push(`b${value}`));
    topic.publish(1);
    received.push('returned');
    topic.publish(2);
    assert.deepEqual(received, ['a1', 'b1', 'returned', 'a2', 'b2']);
  });

  it('passes on the value itself', () => {
    const topic = new Topic<{ n: number }>();
    const value = { n: 1 };
    topic.subscribe((received) => {
      received.n++;
    });
    topic.subscribe((received) => assert.equal(received, value));
    topic.publish(value);
    assert.equal(value.n, 2);
  });

  it('delivers a value published by a subscriber before the outer delivery continues', () => {
    const topic = new Topic<number>();
    const received: string[] = [];
    topic.subscribe((value) => {
      received.push(`a${value}`);
      if (value < 2) topic.publish(value + 1);
    });
    topic.subscribe((value) => received.push(`b${value}`));
    topic.publish(1);
    assert.deepEqual(received, ['a1', 'a2', 'b2', 'b1']);
  });
});
