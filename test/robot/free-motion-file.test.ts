import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { loadModel } from '../../src/rig/robot-models.ts';
import { type Driver, emptyReading } from '../../src/robot/driver.ts';
import { withFreeMotion } from '../../src/robot/touch/free-motion-file.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const folder = temporaryFolder();

/** A joint swings slowly with a constant torque on every drive. */
const arm = (torqueNm: () => number): Driver => ({
  fault: '',
  enable: () => 'ok',
  read(nowNs, out) {
    out.robotNs = nowNs;
    out.positionsRad[0] = Math.sin(nowNs / 5e9);
    out.velocitiesRadS[0] = 0.2 * Math.cos(nowNs / 5e9);
    out.effortsNm.fill(torqueNm());
    return 'ok';
  },
  write: () => 'ok',
  stop() {},
  dispose() {},
});

it('what one start learns, the next one feels with; another arm’s file is rejected with the remedy', () => {
  const model = loadModel('piper');
  const file = path.join(folder, 'free.json');
  const read = (driver: Driver, ms: number) => {
    const out = emptyReading(6);
    driver.read(ms * 1e6, out);
    return [...out.externalNm];
  };
  assert.throws(
    () =>
      withFreeMotion(
        arm(() => 1),
        model,
        { file, learnS: 0 },
      ),
    /there is no/,
  );
  const learning = withFreeMotion(
    arm(() => 1),
    model,
    { file, learnS: 5 },
  );
  for (let ms = 0; ms < 8000; ms += 20) read(learning, ms);
  let torqueNm = 1;
  const feeling = withFreeMotion(
    arm(() => torqueNm),
    model,
    { file, learnS: 0 },
  );
  assert.deepEqual(read(feeling, 100), [0, 0, 0, 0, 0, 0]);
  torqueNm = -2;
  assert.ok(read(feeling, 120).every((nm) => Math.abs(nm - 3) < 0.1));
  assert.throws(
    () =>
      withFreeMotion(
        arm(() => 1),
        loadModel('ur3'),
        { file, learnS: 0 },
      ),
    /no free-motion/,
  );
  writeFileSync(file, '{}');
  assert.throws(
    () =>
      withFreeMotion(
        arm(() => 1),
        model,
        { file, learnS: 0 },
      ),
    /no free-motion/,
  );
});
