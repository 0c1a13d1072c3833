import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { VideoAsk, VideoEvent } from '../messages/video-event.ts';
import { PictureStamps, type Viewer } from './picture-stamps.ts';

const MS = 1e6;
/** The page's clock runs ahead of ours by this. */
const AHEAD_MS = 5000;

function desk() {
  const reported: VideoEvent[] = [];
  const requests: VideoAsk[] = [];
  const time = { ms: 1000 };
  const stamps = new PictureStamps(
    (event) => reported.push(event),
    () => time.ms * MS,
  );
  const viewer: Viewer = { send: (text) => requests.push(JSON.parse(text) as VideoAsk) };
  const picture = (seenBy: Viewer | null = viewer, camera = 'front') =>
    stamps.onPicture(
      {
        camera,
        captureNs: (time.ms - 20) * MS,
        encodedNs: (time.ms - 15) * MS,
        encoding: 'jpeg',
        bytes: new Uint8Array(4),
        captureOperatorNs: Number.NaN,
        uncertaintyNs: Number.NaN,
        arrivedNs: time.ms * MS,
      },
      seenBy ?? undefined,
    );
  /** The page gets the request after 2 ms, decodes for 8, shows after 5 more; its answer takes 2 ms. */
  const answer = (change: Record<string, unknown> = {}, from = viewer) => {
    const pageMs = time.ms + 2 + AHEAD_MS;
    const good = { kind: 'stamped', id: requests.at(-1)?.id, askedMs: pageMs, decodedMs: pageMs + 8 };
    time.ms += 17;
    const rest = { displayedMs: pageMs + 13, sentMs: pageMs + 13 };
    stamps.receive(from, 'front', JSON.stringify({ ...good, ...rest, ...change }));
  };
  return { reported, requests, time, stamps, viewer, picture, answer };
}

describe('timing of pictures up to the screen', () => {
  it('is reported on our clock', () => {
    const { reported, time, picture, answer } = desk();
    picture();
    answer();
    const atNs = 1000 * MS;
    assert.equal(time.ms, 1017);
    const [event] = reported;
    assert.deepEqual(
      [event?.captureNs, event?.encodedNs, event?.receivedNs, event?.decodedNs, event?.displayedNs],
      [atNs - 20 * MS, atNs - 15 * MS, atNs, atNs + 10 * MS, atNs + 15 * MS],
    );
    assert.ok(event!.pageUncertaintyNs! >= 2 * MS, 'half the round trip at least');
  });

  it('is sampled a few times a second, per camera', () => {
    const { reported, requests, time, picture, answer } = desk();
    for (let i = 0; i < 50; i++) {
      picture();
      if (requests.length > reported.length) answer();
      time.ms += 20;
    }
    assert.ok(reported.length >= 4 && reported.length <= 6, `${reported.length} in about a second`);
    picture(null, 'wrist');
    assert.deepEqual(
      [reported.at(-1)?.camera, reported.at(-1)?.decodedNs],
      ['wrist', null],
      'no page shows it',
    );
  });

  it('is reported without its display for a picture that was never shown', () => {
    const { reported, time, picture } = desk();
    picture();
    time.ms += 999;
    picture();
    assert.equal(reported.length, 0);
    time.ms += 2;
    picture();
    assert.deepEqual([reported.length, reported[0]?.displayedNs], [1, null]);
  });

  it('ignores answers from other sockets, to other requests, and malformed ones', () => {
    const { reported, stamps, viewer, picture, answer } = desk();
    picture();
    answer({}, { send: () => {} });
    answer({ id: 77 });
    answer({ decodedMs: 'soon' });
    answer({ displayedMs: -1 });
    answer({ sentMs: 0 });
    for (const text of ['', '{', '[]', 'null', '7', '{"kind":"stamped"}'])
      stamps.receive(viewer, 'front', text);
    stamps.receive(viewer, 'nowhere', '{"kind":"stamped","id":1}');
    assert.equal(reported.length, 0);
    answer();
    answer();
    assert.equal(reported.length, 1, 'one answer counts');
  });

  it('has no display time while the page is hidden', () => {
    const { reported, picture, answer } = desk();
    picture();
    answer({ displayedMs: null });
    assert.ok(reported[0]?.decodedNs !== null && reported[0]?.displayedNs === null);
  });
});
