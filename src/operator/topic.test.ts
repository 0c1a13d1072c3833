import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Topic } from './topic.ts';

describe('topic', () => {
  it('calls its subscribers inline, in order of subscription', () => {
    const topic = new Topic<number>();
    const heard: string[] = [];
    topic.publish(0);
    topic.subscribe((value) => heard.push(`a${value}`));
    topic.subscribe((value) => heard.push(`b${value}`));
    topic.publish(1);
    heard.push('returned');
    topic.publish(2);
    assert.deepEqual(heard, ['a1', 'b1', 'returned', 'a2', 'b2']);
  });

  it('hands on the value itself', () => {
    const topic = new Topic<{ n: number }>();
    const value = { n: 1 };
    topic.subscribe((heard) => {
      heard.n++;
    });
    topic.subscribe((heard) => assert.equal(heard, value));
    topic.publish(value);
    assert.equal(value.n, 2);
  });

  it('delivers a value published by a subscriber before the outer one goes on', () => {
    const topic = new Topic<number>();
    const heard: string[] = [];
    topic.subscribe((value) => {
      heard.push(`a${value}`);
      if (value < 2) topic.publish(value + 1);
    });
    topic.subscribe((value) => heard.push(`b${value}`));
    topic.publish(1);
    assert.deepEqual(heard, ['a1', 'a2', 'b2', 'b1']);
  });
});
