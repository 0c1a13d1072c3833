import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { emptyXr, encodeXr, XR_MAX_BYTES } from '../../input/codecs/webxr-codec.ts';
import { loadRig } from '../../rig/rig.ts';
import { pageOperatorRig } from './operator-rig.ts';
import { asksEstop, probeAnswered } from './page-messages.ts';
import { PictureLine } from './picture-line.ts';

const MS = 1e6;

describe('the rig of a page operator', () => {
  const ports = { link: [1, 2, 3], deskPort: 4, telemetryPort: 5 };

  it('is the robot’s, without network inputs and automatic arming', () => {
    const { config } = loadRig('rctp', ['operator.autoArm=true', 'operator.handPublish.detectorPort=8088']);
    const { operator, link, console: desk, robot } = pageOperatorRig(config, ports);
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

  it('keeps the rig’s settings for pages, with a priority below the robot’s', () => {
    const settings = [
      'operator.inputs.webxr.hand=left',
      'operator.realtimePriority=50',
      'robot.realtimePriority=20',
    ];
    const { operator } = pageOperatorRig(loadRig('demo', settings).config, ports);
    assert.deepEqual(operator.inputs['webxr'], { hand: 'left' });
    assert.equal(operator.realtimePriority, 19);
  });
});

describe('a message from a page', () => {
  it('is an e-stop only when it requests one', () => {
    assert.equal(asksEstop('{"kind":"estop"}'), true);
    assert.equal(asksEstop('{ "why": "estop", "kind": "arm" }'), false);
    assert.equal(asksEstop('"estop"'), false);
    assert.equal(asksEstop('null estop'), false);
    const bytes = new Uint8Array(XR_MAX_BYTES);
    assert.equal(asksEstop(bytes.subarray(0, encodeXr({ ...emptyXr(), estop: true }, bytes))), true);
    assert.equal(asksEstop(bytes.subarray(0, encodeXr(emptyXr(), bytes))), false);
  });

  it('never throws, whatever it contains', () => {
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

describe('pictures sent to a page', () => {
  /** A path of so many bytes per second, with a further delay of `oneWayNs` in each direction. */
  function play(bytesPerS: number, pictureBytes: number, seconds: number, lossEvery = 0) {
    let nowNs = 0;
    let freeNs = 0;
    let probes = 0;
    const oneWayNs = 20 * MS;
    const echoes: { atNs: number; t0Ns: number }[] = [];
    const ages: number[] = [];
    const line = new PictureLine({
      send(_, jpeg) {
        freeNs = Math.max(freeNs, nowNs) + (pictureBytes / bytesPerS) * 1e9;
        ages.push(freeNs + oneWayNs - jpeg[0]! * MS * 10);
      },
      probe(t0Ns) {
        if (lossEvery === 0 || ++probes % lossEvery !== 0) echoes.push({ atNs: freeNs + 2 * oneWayNs, t0Ns });
      },
    });
    for (; nowNs < seconds * 1e9; nowNs += MS) {
      while (echoes.length > 0 && echoes[0]!.atNs <= nowNs) line.answered(echoes.shift()!.t0Ns, nowNs);
      // 25 pictures a second; each holds its capture time in hundredths of a second.
      if (nowNs % (40 * MS) === 0) line.offer('front', Uint8Array.of((nowNs / MS / 10) % 256), nowNs);
    }
    return { line, ages };
  }

  it('are all sent on a fast path', () => {
    const { line } = play(10e6, 60_000, 2.5);
    assert.ok(line.counts.sent >= 60, JSON.stringify(line.counts));
    assert.equal(line.isCrowded(2.5e9), false);
  });

  it('are sent as often as a slow path allows, without queueing', () => {
    const { ages, line } = play(250_000, 60_000, 2.5);
    assert.ok(line.counts.sent >= 6, JSON.stringify(line.counts));
    const late = ages.slice(1).map((age) => age / MS);
    assert.ok(Math.max(...late) < 750, `${late}`);
  });

  it('continue when echoes are lost', () => {
    const { line } = play(10e6, 60_000, 2.5, 5);
    assert.ok(line.counts.sent >= 25, JSON.stringify(line.counts));
  });

  it('take turns between cameras, newest picture only', () => {
    const sent: string[] = [];
    const line = new PictureLine({ send: (camera, [id]) => void sent.push(`${camera}${id}`), probe() {} });
    line.offer('a', Uint8Array.of(1), 1);
    for (const id of [2, 3]) for (const camera of ['a', 'b']) line.offer(camera, Uint8Array.of(id), id);
    assert.deepEqual(sent, ['a1']);
    line.answered(1, 10);
    line.answered(99, 10);
    assert.deepEqual(sent, ['a1', 'a3', 'b3']);
  });
});
