import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changed, DEFAULT_LAYOUT, moved, PANELS, type PanelLayout, parseLayout } from './panel-layout.ts';

const names = (layout: PanelLayout): string[] => layout.map(({ panel }) => panel);

describe('the layout of panels', () => {
  it('survives being remembered', () => {
    const own = moved(changed(DEFAULT_LAYOUT, 'plots', { shown: true, dock: 'left' }), 'latency', -1);
    assert.deepEqual(parseLayout(JSON.stringify(own)), own);
  });

  it('has every panel once, whatever was remembered', () => {
    const bad = ['{', '7', '[null, 3]', '[{"panel":"task","dock":"view","shown":true}]', null];
    for (const text of bad) assert.deepEqual(parseLayout(text), DEFAULT_LAYOUT, String(text));
    const old = '[{"panel":"gone"},{"panel":"latency","dock":"left","shown":false},{"panel":"latency"}]';
    const read = parseLayout(old);
    assert.deepEqual([...names(read)].sort(), [...PANELS].sort());
    assert.deepEqual(read[0], { panel: 'latency', dock: 'left', shown: false });
  });

  it('moves a panel among those of its dock only', () => {
    const left = changed(DEFAULT_LAYOUT, 'record', { dock: 'left' });
    const up = names(moved(left, 'input', -1));
    assert.ok(up.indexOf('input') < up.indexOf('task'), up.join(' '));
    assert.equal(moved(left, 'record', 1), left, 'alone in its dock');
  });
});
