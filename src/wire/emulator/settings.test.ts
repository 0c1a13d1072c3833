import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type ImpairmentInput, impairmentSchema } from './impairment.ts';
import { PROFILE_NAMES } from './profiles.ts';
import { resolveLink } from './settings.ts';

describe('link settings', () => {
  it('accept all profiles', () => {
    assert.deepEqual(PROFILE_NAMES, [
      'off',
      'ethernet',
      'wifi',
      'wifi-untuned',
      '5g',
      'wan',
      'loss2',
      'bloat',
      'handover',
    ]);
    for (const profile of PROFILE_NAMES) assert.equal(resolveLink({ profile })[1].label, profile);
  });

  it('apply changes on top of a profile, separately per direction', () => {
    const [forward, back] = resolveLink({
      profile: 'wifi',
      returnProfile: 'wan',
      forward: { delayMs: 5, loss: { share: 0.1 } },
    });
    assert.equal(forward.impairment.delayMs, 5);
    assert.equal(forward.impairment.loss.share, 0.1);
    assert.equal(forward.impairment.spacingMs, 0.12, 'other settings stay');
    assert.equal(forward.label, 'wifi, changed');
    assert.equal(back.label, 'wan');
    assert.equal(back.impairment.straggler.share, 0.003);
  });

  it('reject unknown names with a hint', () => {
    const hinted = (hint: RegExp) => (error: unknown) => {
      const { code, hint: text } = error as { code: string; hint: string };
      return code === 'bad-option' && hint.test(text);
    };
    const wrong: [Parameters<typeof resolveLink>[0], RegExp][] = [
      [{ profile: 'wify' }, /Did you mean "wifi"/],
      [{ profile: 'toString' }, /Available: off/],
      [{ forward: { delaMs: 3 } as ImpairmentInput }, /"delayMs"/],
      [{ return: { loss: { share: 2 } } }, /link-emulator\.md/],
      [{ forward: { straggler: { extraMs: [9, 3] } } }, /link-emulator\.md/],
      [{ events: [{ kind: 'hole', atMs: -1, forMs: 3 }] }, /"kind":"hole"/],
    ];
    for (const [request, hint] of wrong) assert.throws(() => resolveLink(request), hinted(hint));
    const table = { sendNs: new Float64Array(2), delayNs: new Float64Array(2), periodNs: 1 };
    assert.throws(
      () => resolveLink({ profile: 'wifi', trace: { name: 'x', table } }),
      hinted(/Remove one of them/),
    );
  });
});

describe('docs/link-emulator.md', () => {
  const text = readFileSync('docs/link-emulator.md', 'utf8');

  it('lists every profile and every setting', () => {
    for (const profile of PROFILE_NAMES) assert.ok(text.includes(`\`${profile}\``), profile);
    for (const [key, schema] of Object.entries(impairmentSchema.shape)) {
      assert.match(text, new RegExp(`\`${key}(\\[\\])?\``), key);
      for (const inner of innerKeys(schema))
        assert.match(text, new RegExp(`\\.${inner}[ \`]`), `${key}.${inner}`);
    }
  });
});

/** Keys of an object inside defaults, optionals and arrays. */
function innerKeys(schema: unknown): string[] {
  const { shape, def } = schema as {
    shape?: object;
    def: { innerType?: unknown; element?: unknown };
  };
  if (shape) return Object.keys(shape);
  const inner = def.innerType ?? def.element;
  return inner ? innerKeys(inner) : [];
}
