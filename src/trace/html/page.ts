import type { Percentiles } from '../../core/statistics/percentiles.ts';
import { NS_PER_S } from '../../core/time/clock.ts';
import { HOPS, SEGMENTS } from '../../messages/trace-record.ts';
import type { SegmentReport } from '../distribution.ts';
import { CAUSE_WORDS } from '../feel-cause.ts';
import { formatMs } from '../milliseconds.ts';
import type { TraceFileInfo } from '../read-file.ts';
import { OUTER_HOPS, type TraceReport } from '../report.ts';
import type { ReportDetail } from '../report-detail.ts';
import { notesOf } from '../report-notes.ts';
import { HOP_WORDS, routeText } from '../report-text.ts';
import { TOUCH_SEGMENTS } from '../touch.ts';
import { causesOf, clockText, verdictOf } from '../verdict.ts';
import { VIDEO_SEGMENTS } from '../video.ts';
import { histograms, tookTime, waterfalls } from './hop-charts.ts';
import { SCRIPT, STYLE } from './style.ts';
import { escapeHtml } from './svg.ts';
import { heatStrip, hopStack, latencySeries, seriesData } from './time-charts.ts';

/** A report as one self-contained page. The report must include its detail. */
export function reportPage(report: TraceReport, files: readonly TraceFileInfo[]): string {
  const { detail } = report;
  if (detail === null) throw new Error('the page requires a report with detail');
  const title = `Latency of ${files[0]?.path.split(/[\\/]/).at(-1) ?? 'a run'}`;
  const body = [
    head(report, files),
    verdictSection(report),
    tiles(report),
    timeSection(report, detail),
    spellSection(report, detail),
    tableSection(report),
    section(
      'How long each hop took',
      'Logarithmic time axis; bar heights are square roots, so that rare values stay visible.',
      histograms(detail),
    ),
    section(
      `The worst ${detail.worst.length} commands`,
      'Hop by hop from the device to the motion, as far as known; at most three from the same second. The number is the one-way latency.',
      `<div class="scroll">${waterfalls(detail.worst)}</div>${legend(detail)}`,
    ),
    videoSection(report),
    touchSection(report),
    notesSection(report, files),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><main>${body.join('\n')}<footer>Made by farhand trace report. Times in milliseconds; definitions in protocol/trace.md.</footer></main>
<script type="application/json" id="series-data">${JSON.stringify(seriesData(detail)).replaceAll('<', '\\u003c')}</script>
<script>${SCRIPT}</script></body></html>
`;
}

function section(title: string, note: string, body: string): string {
  return `<section><h2>${escapeHtml(title)}</h2><p class="note">${escapeHtml(note)}</p>${body}</section>`;
}

function head(report: TraceReport, files: readonly TraceFileInfo[]): string {
  const header = files[0]?.header;
  const seconds = report.durationNs / NS_PER_S;
  const facts = [
    files.length > 3
      ? `${files[0]!.path} and ${files.length - 1} more`
      : files.map(({ path }) => path).join(', '),
    header
      ? `${header.startedAt}, ${header.stampSource} stamps${routeText(header)}, playout ${header.playout}`
      : '',
    `${clockText(report.durationNs)} long, ${report.commands} commands${seconds > 0 ? ` (${((report.commands - 1) / seconds).toFixed(1)} per second)` : ''}`,
  ];
  return `<h1>Latency report</h1><p class="sub">${facts.filter(Boolean).map(escapeHtml).join('<br>')}</p>`;
}

function verdictSection(report: TraceReport): string {
  const { tone, headline, sentences } = verdictOf(report);
  const words = sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join('');
  return `<section class="verdict ${tone}"><h2>${escapeHtml(headline)}</h2>${words}</section>`;
}

function tiles(report: TraceReport): string {
  const { feel, oneWay } = report;
  const ms = (ns: number | undefined) => (ns === undefined ? '–' : `${(ns / 1e6).toFixed(2)} ms`);
  const judged = feel.windows > 0;
  const tile = (value: string, words: string, tone = '') =>
    `<div class="tile ${tone}"><b>${value}</b><span>${escapeHtml(words)}</span></div>`;
  const count = (n: number) => (judged ? String(n) : '–');
  return `<div class="tiles">${[
    tile(ms(oneWay.latencyNs?.p50), 'one way, p50'),
    tile(ms(oneWay.latencyNs?.p99), 'one way, p99'),
    tile(ms(oneWay.variationNs?.p99), 'variation, p99'),
    tile(
      count(feel.badWindows),
      `bad seconds of ${feel.windows}`,
      judged ? (feel.badWindows > 0 ? 'bad' : 'good') : '',
    ),
    tile(String(feel.holds), 'holds that nobody asked for', feel.holds > 0 ? 'bad' : ''),
    tile(String(feel.stops), 'latched stops that nobody asked for', feel.stops > 0 ? 'bad' : ''),
    tile(String(feel.refused), 'commands refused', feel.refused > 0 ? 'bad' : ''),
    tile(count(feel.strictWindows), 'seconds with two consecutive commands off'),
    tile(count(feel.longestLateRun), 'longest run of late commands'),
    ...(report.handToMotionNs ? [tile(ms(report.handToMotionNs.p50), 'hand to motion, p50')] : []),
    ...(report.motionLatencyNs ? [tile(ms(report.motionLatencyNs.p50), 'joints behind commands, p50')] : []),
    tile(
      `${(100 * (report.lossRatio ?? 0)).toFixed(2)} %`,
      `lost; ${report.dropped} dropped, ${report.late} late`,
    ),
    ...(report.clockUncertaintyNs
      ? [tile(`±${formatMs(report.clockUncertaintyNs.max)}`, 'clock uncertainty, worst case in ms')]
      : []),
  ].join('')}</div>`;
}

function timeSection(report: TraceReport, detail: ReportDetail): string {
  const key = (colour: string, words: string) =>
    `<li><i style="background:var(--${colour})"></i>${words}</li>`;
  const heatKey = `<ul class="legend">${key('heat0', 'steady')}${key('heat1', 'some off')}${key('heat2', 'two consecutive off')}${key('heat3', 'bad: 6 % or more off')}${key('warm', 'not judged')}</ul>`;
  const seriesKey = `<ul class="legend">${key('accent', 'p50 (line), p95 (thin), up to the worst (shade)')}${key('playout', 'planned playout delay')}${detail.motion.length > 0 ? key('response', 'joints behind commands, by correlation') : ''}${key('bad', 'bad periods')}</ul>`;
  return (
    section(
      'Second by second',
      'A command is off when its latency is more than 10.5 ms from the delay the operator had adapted to.',
      `<div class="scroll">${heatStrip(report, detail)}</div>${heatKey}`,
    ) +
    section(
      'One-way latency',
      'From sampling the hand to the driver’s return, on the operator’s clock.',
      `<div class="scroll">${latencySeries(report, detail)}</div><div id="readout">Point at the chart to read values.</div>${seriesKey}`,
    ) +
    section(
      'Where the time goes',
      'The usual duration of each hop, stacked.',
      `<div class="scroll">${hopStack(detail)}</div>${legend(detail)}`,
    )
  );
}

function legend(detail: ReportDetail): string {
  const shown = HOPS.filter((hop) => tookTime(detail, hop));
  return `<ul class="legend">${shown.map((hop) => `<li><i style="background:var(--${hop})"></i>${HOP_WORDS[hop][0]}</li>`).join('')}</ul>`;
}

function spellSection({ feel }: TraceReport, detail: ReportDetail): string {
  if (feel.spells.length === 0) return '';
  const causes = causesOf(feel.spells).map(
    ({ cause, spells, deviating }) => `${CAUSE_WORDS[cause]}: ${spells} (${deviating} commands)`,
  );
  const shown = feel.spells
    .toSorted((a, b) => b.deviating - a.deviating)
    .slice(0, 40)
    .toSorted((a, b) => a.startNs - b.startNs);
  const rows = shown.map((spell) => {
    const at = clockText(detail.toAxisNs(spell.session, spell.startNs));
    const share = spell.share < 0.995 ? ` (${Math.round(100 * spell.share)} % of them)` : '';
    return `<tr><td>${at}</td><td>${((spell.endNs - spell.startNs) / NS_PER_S).toFixed(1)} s</td><td>${spell.deviating}</td><td>${(spell.worstNs / 1e6).toFixed(1)} ms</td><td class="left wide">${escapeHtml(CAUSE_WORDS[spell.cause])}${share}</td></tr>`;
  });
  const left = feel.spells.length + feel.spellsLeftOut - shown.length;
  const more =
    left > 0 ? ` Showing the ${shown.length} with the most commands off; ${left} more are not listed.` : '';
  return section(
    'What caused the bad periods',
    `${causes.join('; ')}.${more}`,
    `<div class="scroll"><table><tr><th>at</th><th>lasted</th><th>commands off</th><th>worst</th><th class="left">cause</th></tr>${rows.join('')}</table></div>`,
  );
}

function tableSection(report: TraceReport): string {
  const rows = [
    row('End to end', 'sampled → applied', report.oneWay, 'strong'),
    ...SEGMENTS.map((name) => row(...HOP_WORDS[name], report.segments[name])),
    ...OUTER_HOPS.filter((name) => (report.outerHops[name].latencyNs?.max ?? 0) > 0).map((name) =>
      row(...HOP_WORDS[name], report.outerHops[name]),
    ),
    ...(report.handToMotionNs === null
      ? []
      : [
          row(
            'Hand to motion',
            'sampled → moved',
            { latencyNs: report.handToMotionNs, variationNs: null },
            'strong',
          ),
        ]),
  ];
  const heads = ['p50', 'p95', 'p99', 'max'].map((q) => `<th>${q}</th>`).join('');
  return section(
    'Percentiles of the run',
    'Latency on the left, its variation from one command to the next on the right, in milliseconds. Percentiles of a whole run hide single bad seconds.',
    `<div class="scroll"><table><tr><th>segment</th>${heads}${heads}</tr>${rows.join('')}</table></div>`,
  );
}

function row(label: string, path: string, reported: SegmentReport, kind = ''): string {
  const cells = (p: Percentiles | null) =>
    (p === null ? [undefined, undefined, undefined, undefined] : [p.p50, p.p95, p.p99, p.max])
      .map((ns) => `<td>${ns === undefined ? '–' : formatMs(ns)}</td>`)
      .join('');
  return `<tr class="${kind}"><td>${escapeHtml(label)} <span class="path">${escapeHtml(path)}</span></td>${cells(reported.latencyNs)}${cells(reported.variationNs)}</tr>`;
}

function videoSection({ video }: TraceReport): string {
  if (video.length === 0) return '';
  const cell = (p: Percentiles | null) =>
    `<td>${p === null ? '–' : `${formatMs(p.p50)} / ${formatMs(p.p95)}`}</td>`;
  const rows = video.map(
    ({ camera, frames, totalNs, segmentsNs, clockUncertaintyNs }) =>
      `<tr><td>${escapeHtml(camera)}</td><td>${frames}</td>${cell(totalNs)}${VIDEO_SEGMENTS.map((name) => cell(segmentsNs[name])).join('')}${cell(clockUncertaintyNs)}</tr>`,
  );
  return section(
    'Cameras',
    'Sampled pictures: from capture to display in milliseconds, p50 / p95.',
    `<div class="scroll"><table><tr><th>camera</th><th>pictures</th><th>total</th>${VIDEO_SEGMENTS.map((name) => `<th>${name}</th>`).join('')}<th>clock ±</th></tr>${rows.join('')}</table></div>`,
  );
}

function touchSection({ touch }: TraceReport): string {
  if (touch === null) return '';
  const cell = (p: Percentiles | null) =>
    `<td>${p === null ? '–' : `${formatMs(p.p50)} / ${formatMs(p.p95)}`}</td>`;
  const cells = [touch.totalNs, ...TOUCH_SEGMENTS.map((name) => touch.segmentsNs[name])].map(cell);
  return section(
    'Touch',
    'From the robot’s reading of a contact to the pulse in milliseconds, p50 / p95.',
    `<div class="scroll"><table><tr><th>pulses</th><th>total</th>${TOUCH_SEGMENTS.map((name) => `<th>${name}</th>`).join('')}<th>clock ±</th></tr><tr><td>${touch.pulses}</td>${cells.join('')}${cell(touch.clockUncertaintyNs)}</tr></table></div>`,
  );
}

function notesSection(report: TraceReport, files: readonly TraceFileInfo[]): string {
  const notes = notesOf(report, files).map((note) => `<li>${escapeHtml(note)}.</li>`);
  return notes.length === 0 ? '' : `<section><h2>Notes</h2><ul>${notes.join('')}</ul></section>`;
}
