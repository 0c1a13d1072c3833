// A policy that needs no training: it looks up the recorded moment most like the present one and answers what was
// commanded a little later. Usage: node policy.mjs EPISODE.csv [--port 8080] [--ahead 20]
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { port: { type: 'string', default: '8080' }, ahead: { type: 'string', default: '20' } },
});
if (positionals.length !== 1) {
  console.error('usage: node policy.mjs EPISODE.csv [--port 8080] [--ahead ROWS]');
  process.exit(2);
}

const episode = readEpisode(positionals[0]);
const ahead = Number(values.ahead);
/** Rows around the last answer that are searched first: a motion that crosses itself is not cut short. */
const WINDOW = 30;
let last = -1;

/** What `farhand export csv` wrote: `state.<joint>_rad` and `command.<joint>_rad`, and the gripper where there is one. */
function readEpisode(file) {
  const [header, ...lines] = readFileSync(file, 'utf8').trim().split(/\r?\n/);
  const names = header.split(',');
  const columns = (prefix) => names.flatMap((name, i) => (name.startsWith(prefix) ? [i] : []));
  const [state, command] = [columns('state.'), columns('command.')];
  return lines.map((line) => {
    const cells = line.split(',');
    return { state: state.map((i) => Number(cells[i])), command: command.map((i) => Number(cells[i])) };
  });
}

function distance(row, positionsRad) {
  let sum = 0;
  for (let i = 0; i < positionsRad.length; i++) sum += (row.state[i] - positionsRad[i]) ** 2;
  return sum;
}

function nearest(positionsRad) {
  const from = Math.max(0, last);
  const to = last < 0 ? episode.length : Math.min(episode.length, last + WINDOW);
  let best = from;
  for (let i = from; i < to; i++)
    if (distance(episode[i], positionsRad) < distance(episode[best], positionsRad)) best = i;
  return best;
}

function answer(observation) {
  last = nearest(observation.state.positionsRad);
  const row = episode[Math.min(episode.length - 1, last + ahead)];
  return { tick: observation.tick, action: row.command };
}

const server = createServer((request, response) => {
  let text = '';
  request.on('data', (data) => {
    text += data;
  });
  request.on('end', () => {
    try {
      const body = JSON.stringify(answer(JSON.parse(text)));
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  });
});
server.listen(Number(values.port), '127.0.0.1', () => {
  console.log(`policy ready on http://127.0.0.1:${server.address().port}/act with ${episode.length} rows`);
});
