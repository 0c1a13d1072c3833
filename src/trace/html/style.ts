/** Hop colours also differ in lightness; the page follows the reader's light or dark setting. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#f7f8fa;--card:#fff;--ink:#1b2330;--soft:#5c6878;--line:#dfe4ea;--accent:#2563c9;
--good:#2f9e6b;--fair:#c98a12;--bad:#d0413a;--heat0:#d3ecdf;--heat1:#f2e3b3;--heat2:#f0b35e;--heat3:#d0413a;--warm:#e8ebef;
--capture:#b8a9e0;--uplink:#8b6fd0;--wait:#d5cbef;--pipeline:#64b5c8;--serialise:#a6dbe5;--wire:#2563c9;--receive:#7fa8ea;
--playout:#f0b35e;--apply:#d98324;--response:#4aa876;--total:#5c6878}
@media(prefers-color-scheme:dark){:root{--bg:#10141a;--card:#181e27;--ink:#e6eaf0;--soft:#97a3b4;--line:#2a3340;--accent:#6fa3f2;
--good:#4cc38a;--fair:#e0ad4a;--bad:#f0665e;--heat0:#1e4636;--heat1:#5a4d1e;--heat2:#a86a1c;--heat3:#e2544c;--warm:#222a35;
--capture:#8f7fc4;--uplink:#a78bef;--wait:#5e5288;--pipeline:#3f93a8;--serialise:#2c6876;--wire:#5b93ef;--receive:#3b62a6;
--playout:#d99a3d;--apply:#b0681a;--response:#4aa876;--total:#97a3b4}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1160px;margin:0 auto;padding:28px 20px 60px}
h1{font-size:1.5rem;margin:0 0 2px;letter-spacing:-.01em}h2{font-size:1.02rem;margin:0 0 2px}
.sub,.note{color:var(--soft);font-size:.86rem;margin:0 0 12px}.sub{overflow-wrap:anywhere}
section{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:16px 18px;margin:16px 0}
.verdict{border-left:5px solid var(--soft)}.verdict.steady{border-left-color:var(--good)}
.verdict.uneven{border-left-color:var(--fair)}.verdict.bad{border-left-color:var(--bad)}
.verdict h2{font-size:1.25rem}.verdict p{margin:4px 0 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:16px 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 14px}
.tile b{display:block;font-size:1.35rem;font-variant-numeric:tabular-nums;letter-spacing:-.01em}
.tile span{color:var(--soft);font-size:.8rem}.tile.bad b{color:var(--bad)}.tile.good b{color:var(--good)}
.scroll{overflow-x:auto}.scroll svg,.scroll table{min-width:680px}
svg{display:block;width:100%;height:auto;font-size:11px}
.tick{fill:var(--soft)}.end{text-anchor:end}.middle{text-anchor:middle}.mono{font-family:ui-monospace,Menlo,Consolas,monospace}
.grid{stroke:var(--line);stroke-width:1}.axis{stroke:var(--soft);stroke-width:1}
.p50{fill:none;stroke:var(--accent);stroke-width:1.6}.p95{fill:none;stroke:var(--accent);stroke-width:1;opacity:.55}
.plan{fill:none;stroke:var(--playout);stroke-width:1.4;stroke-dasharray:4 3}.spread{fill:var(--accent);opacity:.16}
.spell{fill:var(--bad);opacity:.17}.motion{fill:var(--response)}.cross{stroke:var(--ink);stroke-width:1;opacity:.5}
.warm{fill:var(--warm)}.heat-good{fill:var(--heat0)}.heat-off{fill:var(--heat1)}.heat-strict{fill:var(--heat2)}.heat-bad{fill:var(--heat3)}
.fill-capture{fill:var(--capture)}.fill-uplink{fill:var(--uplink)}.fill-wait{fill:var(--wait)}.fill-pipeline{fill:var(--pipeline)}
.fill-serialise{fill:var(--serialise)}.fill-wire{fill:var(--wire)}.fill-receive{fill:var(--receive)}.fill-playout{fill:var(--playout)}
.fill-apply{fill:var(--apply)}.fill-response{fill:var(--response)}.fill-total{fill:var(--total)}
.legend{display:flex;flex-wrap:wrap;gap:4px 14px;font-size:.8rem;color:var(--soft);margin:6px 0 0;padding:0;list-style:none}
.legend i{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:5px;vertical-align:-1px}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(230px,1fr));gap:14px 22px}
figure{margin:0}figcaption{font-size:.82rem;margin-bottom:2px}
table{border-collapse:collapse;width:100%;font-size:.86rem;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:4px 8px;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--soft);font-weight:600}td:first-child,th:first-child,td.left,th.left{text-align:left}td.wide{white-space:normal}
tr.strong td{font-weight:650}td .path{color:var(--soft);font-size:.8rem}
#readout{min-height:1.4em;color:var(--soft);font-size:.84rem;font-variant-numeric:tabular-nums}
footer{color:var(--soft);font-size:.8rem}
@media print{body{background:#fff}section,.tile{break-inside:avoid}}
`;

/** Follows the pointer over the latency chart and shows the values of that second. */
export const SCRIPT = `
const chart=document.getElementById('series'),out=document.getElementById('readout');
const rows=JSON.parse(document.getElementById('series-data').textContent);
if(chart&&out&&rows.length){const line=chart.querySelector('.cross'),idle=out.textContent;
const ms=v=>v===null?'–':v.toFixed(2);
chart.addEventListener('pointermove',e=>{const b=chart.getBoundingClientRect();const x=(e.clientX-b.left)/b.width*1080;
let best=rows[0];for(const r of rows)if(Math.abs(r[6]-x)<Math.abs(best[6]-x))best=r;
line.setAttribute('x1',best[6]);line.setAttribute('x2',best[6]);
out.textContent=best[0]+'   p50 '+ms(best[1])+'   p95 '+ms(best[2])+'   max '+ms(best[3])+'   playout '+ms(best[4])+' ms   '+best[5]+' commands';});
chart.addEventListener('pointerleave',()=>{line.setAttribute('x1',-9);line.setAttribute('x2',-9);out.textContent=idle;});}
`;
