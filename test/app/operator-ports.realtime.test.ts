import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { portGate } from '../../src/app/operator-ports.ts';
import { needs } from '../needs.ts';

it('one operator at a time chooses its ports, until they are bound', { skip: needs('Linux') }, async () => {
  const end = await portGate();
  let isSecond = false;
  const second = portGate().then((endSecond) => {
    isSecond = true;
    return endSecond;
  });
  await sleep(200);
  assert.ok(!isSecond);
  end();
  end();
  (await second)();
});
