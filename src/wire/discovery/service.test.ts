import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type DnsMessage, decodeDns, encodeDns, TYPE } from './dns-message.ts';
import { type AnnouncedRobot, ServiceBrowser, ServiceResponder } from './service.ts';

const ROBOT: AnnouncedRobot = {
  name: 'Left cell, 2nd arm',
  host: 'cell-7',
  addresses: ['192.0.2.7', 'fd00::7'],
  commandPort: 4760,
  statePort: 4761,
  syncPort: 4762,
};
const SERVICE = ['_farhand', '_udp', 'local'];
const { host: _, ...rest } = ROBOT;
const FOUND = { ...rest, host: 'cell-7.local' };

const ask = (name: string[], type: number, records: DnsMessage['records'] = []): DnsMessage => ({
  ...{ id: 0, isResponse: false, records },
  questions: [{ name, type, unicast: false }],
});

function seen(...messages: Uint8Array[]): ReturnType<ServiceBrowser['found']> {
  const browser = new ServiceBrowser();
  for (const bytes of messages) browser.take(decodeDns(bytes)!);
  return browser.found();
}

describe('robots on the local network', () => {
  const responder = new ServiceResponder(ROBOT);
  const question = decodeDns(new ServiceBrowser().query())!;

  it('are found by their answer, and by what they announce', () => {
    assert.deepEqual(seen(responder.answer(question, false)!.bytes), [FOUND]);
    assert.deepEqual(seen(responder.announcement()), [FOUND]);
  });

  it('disappear when they say goodbye', () => {
    assert.deepEqual(seen(responder.announcement(), responder.announcement(0)), []);
  });

  it('answer for their name, machine and kind of service only, whatever the case of letters', () => {
    const answers = (name: string[], type: number) => responder.answer(ask(name, type), false) !== null;
    assert.ok(answers(['LEFT CELL, 2ND ARM', ...SERVICE], TYPE.SRV));
    assert.ok(answers(['cell-7', 'local'], TYPE.A));
    assert.ok(answers(['_services', '_dns-sd', '_udp', 'local'], TYPE.PTR));
    assert.ok(!answers(['cell-8', 'local'], TYPE.A));
    assert.ok(!answers(SERVICE, TYPE.SRV));
    assert.ok(!answers(['_http', '_tcp', 'local'], TYPE.PTR));
  });

  it('stay silent when the asker knows the answer', () => {
    const known = decodeDns(responder.announcement())!.records;
    assert.equal(responder.answer(ask(SERVICE, TYPE.PTR, known), false), null);
  });

  it('notice another robot with their name, not themselves', () => {
    assert.ok(!responder.isTaken(decodeDns(responder.announcement())!));
    const other = new ServiceResponder({ ...ROBOT, host: 'cell-8' });
    assert.ok(responder.isTaken(decodeDns(other.announcement())!));
    assert.ok(!responder.isTaken(decodeDns(other.announcement(0))!));
  });

  it('are shown without control characters', () => {
    const [found] = seen(new ServiceResponder({ ...ROBOT, name: 'a\u001b[2Jb' }).announcement());
    assert.ok(!found!.name.includes('\u001b'));
  });
});

describe('DNS messages', () => {
  it('follow references to earlier names, and reject those that lead nowhere or in circles', () => {
    const bytes = [
      ...encodeDns(ask(SERVICE, TYPE.PTR)),
      0xc0,
      12,
      0,
      12,
      0,
      1,
      0,
      0,
      0,
      9,
      0,
      4,
      1,
      97,
      0xc0,
      12,
    ];
    bytes[7] = 1;
    const [record] = decodeDns(Uint8Array.from(bytes))!.records;
    assert.deepEqual(record, {
      type: 'PTR',
      name: SERVICE,
      ttlS: 9,
      unique: false,
      target: ['a', ...SERVICE],
    });
    const to = (where: number) => Uint8Array.from(bytes.with(-1, where));
    assert.equal(decodeDns(to(bytes.length - 2)), null);
    assert.equal(decodeDns(to(255)), null);
  });

  it('never make decoding throw or run on, whatever bytes arrive', () => {
    const real = new ServiceResponder(ROBOT).announcement();
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(real.length - 1), fc.nat(255)), { maxLength: 8 }), (changes) => {
        const bytes = real.slice();
        for (const [at, value] of changes) bytes[at] = value;
        const message = decodeDns(bytes);
        if (message !== null) new ServiceBrowser().take(message);
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void decodeDns(bytes)));
  });
});
