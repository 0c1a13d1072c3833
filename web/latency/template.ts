import { SEGMENTS } from '../../src/messages/trace-record.ts';

const tile = (id: string, name: string, unit: string, title: string): string =>
  `<div title="${title}"><dt>${name}</dt><dd><b id="lat-${id}" data-testid="lat-${id}">—</b><small>${unit}</small></dd></div>`;

const chart = (id: string, title: string, note: string): string => `
  <section class="card" aria-labelledby="lat-${id}-title">
    <header class="card-head"><h3 id="lat-${id}-title">${title}</h3><span class="muted" id="lat-${id}-note">${note}</span></header>
    <div id="lat-${id}" class="plot plot-${id}" data-testid="plot-${id}" role="img" aria-labelledby="lat-${id}-title"></div>
  </section>`;

const stage = (name: string, i: number): string => `
  <tr><th scope="row"><i class="segment-${i}"></i>${name}</th><td>—</td><td>—</td><td>—</td></tr>`;

export const ONE_WAY_NOTE = 'orange: late; red: dropped or lost; click a point to see its stages';

/** The page's HTML. Contains no external text. */
export const LATENCY_TEMPLATE = `
  <header class="page-head">
    <div><h2>Latency</h2><p class="muted">One-way time of each command, from the hand sample to the robot’s joints</p></div>
    <div class="page-tools">
      <fieldset id="lat-windows" class="segmented" aria-label="Time window">
        <button type="button" data-seconds="10" aria-pressed="false">10 s</button>
        <button type="button" data-seconds="30" aria-pressed="true">30 s</button>
        <button type="button" data-seconds="60" aria-pressed="false">60 s</button>
      </fieldset>
      <button type="button" id="lat-pause" class="plain" data-testid="lat-pause" aria-pressed="false">Pause</button>
    </div>
  </header>
  <dl class="stats card latency">
    ${tile('p50', 'p50', 'ms', 'Half of the commands were faster')}
    ${tile('p95', 'p95', 'ms', '')}
    ${tile('p99', 'p99', 'ms', '')}
    ${tile('max', 'max', 'ms', '')}
    ${tile('variation', 'variation p95', 'ms', 'Change of the one-way time from one command to the next')}
    ${tile('bad', 'bad seconds', '', 'Seconds in which at least 6 of 100 commands deviated by more than 10.5 ms from the usual delay. Not judged in the first 10 s of a session.')}
    ${tile('motion', 'motion delay', 'ms', 'From the hand sample to the measured joint motion, by correlation. Only while the hand moves.')}
    ${tile('late', 'late', '%', 'Arrived after their due time')}
    ${tile('dropped', 'dropped', '%', 'Skipped because a newer command was also due')}
    ${tile('lost', 'lost', '%', 'No receipt within two seconds')}
  </dl>
  <div class="lat-grid">
    <div class="lat-main">
      ${chart('one-way', 'One-way time', ONE_WAY_NOTE)}
      ${chart('stages', 'Stages', 'the slowest command of each time step')}
      ${chart('playout', 'Playout', 'scheduled delay, and queued commands')}
      ${chart('clock', 'Clock offset', 'robot − operator, with its uncertainty')}
    </div>
    <div class="lat-side">
      <section class="card" aria-labelledby="lat-command-title">
        <header class="card-head">
          <h3 id="lat-command-title">Command</h3>
          <span class="steps">
            <button type="button" id="lat-previous" class="plain" aria-label="Previous command">‹</button>
            <button type="button" id="lat-next" class="plain" aria-label="Next command">›</button>
            <button type="button" id="lat-slowest" class="plain" data-testid="lat-slowest">Slowest</button>
          </span>
        </header>
        <p id="lat-command-about" class="muted small" data-testid="waterfall-about">Click a point, or press Slowest.</p>
        <ol id="lat-waterfall" class="waterfall" data-testid="waterfall"></ol>
      </section>
      <section class="card" aria-labelledby="lat-histogram-title">
        <header class="card-head"><h3 id="lat-histogram-title">Distribution</h3><span class="muted" id="lat-histogram-note"></span></header>
        <canvas id="lat-histogram" class="histogram" data-testid="histogram" aria-label="Histogram of one-way times"></canvas>
      </section>
      <section class="card" aria-labelledby="lat-table-title">
        <h3 id="lat-table-title" class="visually-hidden">Stage table</h3>
        <table class="numbers">
          <thead><tr><th scope="col">stage, ms</th><th scope="col">p50</th><th scope="col">p95</th><th scope="col">p99</th></tr></thead>
          <tbody id="lat-table">${SEGMENTS.map(stage).join('')}</tbody>
        </table>
      </section>
      <section class="card" aria-label="Link">
        <dl class="rows">
          <div><dt>bad seconds</dt><dd id="lat-felt" data-testid="lat-felt">not judged yet</dd></div>
          <div><dt>unrequested</dt><dd id="lat-halts" data-testid="lat-halts">no holds or stops</dd></div>
          <div><dt>last bad second</dt><dd id="lat-cause">none</dd></div>
          <div><dt>clock offset</dt><dd id="lat-offset">—</dd></div>
          <div><dt>drift</dt><dd id="lat-drift">—</dd></div>
          <div><dt>receive stamps</dt><dd id="lat-stamps">—</dd></div>
          <div><dt>playout</dt><dd id="lat-playout-name">—</dd></div>
          <div><dt>commands</dt><dd id="lat-commands">—</dd></div>
        </dl>
        <fieldset id="qualities" class="segmented" aria-label="Playout: delay or smoothness" hidden>
          <button type="button" data-quality="fast" title="Less delay, occasional stutter">Fast</button>
          <button type="button" data-quality="balanced" title="The smallest delay without visible stutter">Balanced</button>
          <button type="button" data-quality="smooth" title="More delay, less jitter">Smooth</button>
        </fieldset>
        <details class="counters">
          <summary><span>Rejected messages</span><b id="counters-total">0</b></summary>
          <ul id="counters"></ul>
        </details>
      </section>
    </div>
  </div>`;
