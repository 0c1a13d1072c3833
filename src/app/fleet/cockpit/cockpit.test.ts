import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { emptyXr, encodeXr, XR_MAX_BYTES } from '../../../input/codecs/webxr.ts';
import { loadRig } from '../../rig.ts';
import { PageEcho } from './page-echo.ts';
import { asksEstop, probeAnswered } from './page-words.ts';
import { cockpitRig } from './rig.ts';

const MS = 1e6;

describe('the rig of a cockpit', () => {
  const ports = { link: [1, 2, 3], deskPort: 4, telemetryPort: 5 };

  it('is the robot’s, with what listens to the network and what acts by itself left out', () => {
    const { config } = loadRig('rctp', ['operator.autoArm=true', 'operator.handPublish.detectorPort=8088']);
    const { operator, link, console: desk, robot } = cockpitRig(config, ports);
    assert.deepEqual(Object.keys(operator.inputs), ['page', 'webxr']);
    assert.equal(operator.input, 'page');
    assert.equal(operator.autoArm, false);
    assert.equal(operator.handPublish.detectorPort, 0);
    assert.deepEqual(
      [link.robotHost, link.commandPort, link.statePort, link.syncPort],
      ['127.0.0.1', 1, 2, 3],
    );
    assert.deepEqual([desk.deskPort, desk.telemetryPort], [4, 5]);
    assert.deepEqual(robot, config.robot);
  });

  it('keeps what the rig says about pages, and its rank below the robot’s', () => {
    const settings = [
      'operator.inputs.webxr.hand=left',
      'operator.realtimePriority=50',
      'robot.realtimePriority=20',
    ];
    const { operator } = cockpitRig(loadRig('demo', settings).config, ports);
    assert.deepEqual(operator.inputs['webxr'], { hand: 'left' });
    assert.equal(operator.realtimePriority, 19);
  });
});

describe('what a page says', () => {
  it('is an e-stop when it asks for one, and else is not', () => {
    assert.equal(asksEstop('{"kind":"estop"}'), true);
    assert.equal(asksEstop('{ "why": "estop", "kind": "arm" }'), false);
    assert.equal(asksEstop('"estop"'), false);
    assert.equal(asksEstop('null estop'), false);
    const bytes = new Uint8Array(XR_MAX_BYTES);
    assert.equal(asksEstop(bytes.subarray(0, encodeXr({ ...emptyXr(), estop: true }, bytes))), true);
    assert.equal(asksEstop(bytes.subarray(0, encodeXr(emptyXr(), bytes))), false);
  });

  it('never throws, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.uint8Array()), (data) => {
        asksEstop(data);
        if (typeof data === 'string') probeAnswered(`${data}"probed"`);
      }),
    );
  });

  it('answers a probe', () => {
    assert.equal(probeAnswered('{"kind":"probed","t0":12,"t1":1,"t2":2}'), 12);
    assert.equal(probeAnswered('{"kind":"probed","t0":"12"}'), null);
    assert.equal(probeAnswered('{"kind":"hand","why":"probed"}'), null);
  });
});

describe('the echo of a page', () => {
  it('tells that something piles up when answers stay away, and forgets it when they come', () => {
    const echo = new PageEcho();
    assert.equal(echo.isBehind(0), false, 'before the first answer nothing is known');
    echo.answered(0, 40 * MS);
    assert.equal(echo.isBehind(600 * MS), false);
    assert.equal(echo.isBehind(641 * MS), true);
    echo.answered(600 * MS, 900 * MS);
    assert.equal(echo.isBehind(1200 * MS), false);
  });

  it('believes no answer from the future, and none that is older than the newest', () => {
    const echo = new PageEcho();
    echo.answered(5000 * MS, 100 * MS);
    echo.answered(Number.NaN, 100 * MS);
    echo.answered(100 * MS, 140 * MS);
    echo.answered(0, 150 * MS);
    assert.equal(echo.isBehind(745 * MS), true);
  });
});
