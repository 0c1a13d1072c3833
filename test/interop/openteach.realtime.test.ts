import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { type Running, startFarhand } from '../e2e/farhand.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { pythonWith } from './python-venv.ts';

const run = promisify(execFile);
const peer = path.join('test', 'interop', 'openteach_peer.py');
async function pythonOrWhy(module: string, requirement: string): Promise<{ python: string; why: string }> {
  const found = await pythonWith(module, requirement);
  return found.ok ? { python: found.python, why: '' } : { python: '', why: found.why };
}
const zmq = await pythonOrWhy('zmq', 'pyzmq');
const pillow = await pythonOrWhy('PIL', 'pillow');

const python = async (...args: (string | number)[]): Promise<string> => {
  const { stdout } = await run(zmq.python, [peer, ...args.map(String)], { timeout: 30_000 });
  return stdout;
};

interface ListenReport {
  rateHz: number;
  received: number;
  tracking: boolean;
  pointsM: number[][] | null;
  rejected: Record<string, number>;
}

describe('OpenTeach’s PC and headset', { skip: zmq.why === '' ? false : zmq.why }, () => {
  const running: Running[] = [];
  const start = (...args: string[]): Running => {
    const child = startFarhand(args);
    running.push(child);
    return child;
  };
  after(async () => {
    for (const child of running) await child.end();
  });
  const listen = async (...more: string[]): Promise<Running> => {
    const child = start('listen', 'openteach', '--json', ...more);
    await until(
      'listening',
      () => /ZeroMQ/.test(child.stderr()),
      () => child.stderr(),
    );
    return child;
  };
  const last = (child: Running): ListenReport =>
    JSON.parse(child.stdout().trim().split('\n').at(-1)!) as ListenReport;

  it('the PC reads what `farhand send openteach` sends', async () => {
    const [right, left, button, pause] = await freeUdpPorts(4);
    const ports = `right=${right},left=${left},button=${button},pause=${pause}`;
    const pc = python('pc', right!, button!, pause!, 60);
    start('send', 'openteach', '--ports', ports, '--pause', '0.3-0.8', '--seconds', '6', '--shape', 'fist');
    const seen = JSON.parse(await pc) as Record<string, number[]>;
    assert.deepEqual([seen['lengths'], seen['buttons'], seen['pauses']], [[73], [1], [0, 1]]);
    assert.ok(seen['last']!.every(Number.isFinite));
  });

  it('receives the headset, and counts messages that crash upstream’s PC program', async () => {
    const [right, left, button, pause] = await freeUdpPorts(4);
    const vectors = JSON.parse(readFileSync('test/data/openteach.json', 'utf8')) as {
      openteach: { text: string }[];
    };
    const good = vectors.openteach[0]!.text;
    const comma = good.replaceAll('.', ',');
    const lines = [
      good,
      good,
      'absolute:',
      good,
      'hello',
      good.replace('0.2', 'NaN'),
      good.slice(0, 200),
      comma,
    ];
    const file = path.join(temporaryFolder(), 'tokens.txt');
    writeFileSync(file, lines.join('\n'));
    const receiver = await listen(
      `rightPort=${right}`,
      `leftPort=${left}`,
      `buttonPort=${button}`,
      `pausePort=${pause}`,
    );
    await python('quest', right!, file, 120);
    await sleep(1100);
    const report = last(receiver);
    // On a busy machine newer messages replace older ones.
    assert.ok(report.received >= 10, `${report.received}`);
    for (const reason of ['empty-hand', 'malformed', 'non-finite', 'decimal-comma'])
      assert.ok(report.rejected[reason]! > 2, JSON.stringify(report.rejected));
    await receiver.end();
  });

  for (const how of ['bind', 'connect'] as const)
    it(`receives the documented publisher that ${how}s, JSON 21 × 3`, async () => {
      const [port] = await freeUdpPorts(1);
      const host = how === 'bind' ? ['publisherHost=127.0.0.1'] : [];
      const receiver = await listen(`rightPort=${port}`, 'topology=pub', 'pointFrame=rh', ...host);
      await python('pub', port!, 200, how);
      await sleep(200);
      const seen = receiver
        .stdout()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as ListenReport);
      const report = seen.find(({ pointsM }) => pointsM !== null);
      assert.deepEqual(report?.pointsM?.[20], [2, 4, -0.10000000000000003]);
      assert.deepEqual(last(receiver).rejected, {});
      assert.ok(last(receiver).received > 50);
      await receiver.end();
    });

  it('publishes the stages of a hand and its picture', async () => {
    const [command, state, sync, desk, telemetry, ...more] = await freeUdpPorts(12);
    const [right, left, button, pause, detector, transform, view] = more;
    const operator = start(
      'operator',
      'rig=orca',
      ...['link.security=plain', 'trace.dir=', `link.commandPort=${command}`, `link.statePort=${state}`],
      ...[`link.syncPort=${sync}`, `console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`],
      ...[`operator.inputs.openteach.rightPort=${right}`, `operator.inputs.openteach.leftPort=${left}`],
      ...[`operator.inputs.openteach.buttonPort=${button}`, `operator.inputs.openteach.pausePort=${pause}`],
      ...['operator.inputs.openteach.listenHost=127.0.0.1', 'operator.hand.offsetM=[0,1,0]'],
      ...[`operator.handPublish.detectorPort=${detector}`, `operator.handPublish.transformPort=${transform}`],
      `operator.handPublish.viewPort=${view}`,
    );
    await operator.waitFor(/operator ready/);
    const ports = `right=${right},left=${left},button=${button},pause=${pause}`;
    start('send', 'openteach', '--ports', ports, '--shape', 'spread', '--seconds', '15');
    const raw = JSON.parse(await python('sub', detector!, 'hand_coords')) as number[][];
    const moved = JSON.parse(await python('sub', transform!, 'transformed_hand_coords')) as number[][];
    assert.deepEqual([raw.length, moved.length], [21, 21]);
    assert.ok(Math.abs(raw[0]![0]! - 0.2) < 1e-4 && Math.abs(moved[0]![1]! - 2.1) < 0.1);
    const file = path.join(temporaryFolder(), 'hand.jpg');
    await python('sub', view!, '', file);
    const bytes = readFileSync(file);
    assert.deepEqual([bytes[0], bytes[1], bytes.at(-2), bytes.at(-1)], [0xff, 0xd8, 0xff, 0xd9]);
    if (pillow.why !== '') return;
    const look =
      'import sys; from PIL import Image; i = Image.open(sys.argv[1]); i.load(); print(i.size, i.mode, min(i.getdata()), max(i.getdata()))';
    const { stdout, stderr } = spawnSync(pillow.python, ['-c', look, file], { encoding: 'utf8' });
    assert.match(stdout, /^\(480, 480\) L \d+ 2[345]\d$/m, stderr);
  });
});
