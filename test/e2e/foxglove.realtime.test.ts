import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CdrReader } from '@foxglove/cdr';
import foxglove, { type Channel } from '@foxglove/ws-protocol';
import { WebSocket } from 'ws';
import { type FoxgloveBridge, startFoxgloveBridge } from '../../src/bridge/foxglove-bridge.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { until } from '../until.ts';
import { OperatorPeer } from './operator-peer.ts';

const { FoxgloveClient } = foxglove;
const MODEL = loadModel('ur3');
const SUBPROTOCOL = FoxgloveClient.SUPPORTED_SUBPROTOCOL;

/** Foxglove's own client against the endpoint. */
describe('farhand bridge foxglove', () => {
  let peer: OperatorPeer;
  let bridge: FoxgloveBridge;
  let client: InstanceType<typeof FoxgloveClient>;
  let name = '';
  const channels = new Map<string, Channel>();
  const received = new Map<number, { timestamp: bigint; data: DataView }[]>();
  const problems: unknown[] = [];

  const subscribe = (topic: string): number => {
    const id = client.subscribe(channels.get(topic)!.id);
    received.set(id, []);
    return id;
  };
  const messagesOf = async (topic: string, count: number) => {
    const id = subscribe(topic);
    await until(`${count} messages on ${topic}`, () => received.get(id)!.length >= count);
    return { id, messages: received.get(id)! };
  };

  before(async () => {
    const [deskPort = 0, telemetryPort = 0] = await freeUdpPorts(2);
    const ports = [`console.deskPort=${deskPort}`, `console.telemetryPort=${telemetryPort}`];
    peer = new OperatorPeer({ deskPort, telemetryPort }, MODEL);
    bridge = await startFoxgloveBridge(loadRig('demo', ports).config, { port: 0, origins: [] });
    const ws = new WebSocket(bridge.url, [SUBPROTOCOL]);
    client = new FoxgloveClient({ ws: ws as never });
    client.on('serverInfo', (info) => {
      name = info.name;
    });
    client.on('error', (error) => problems.push(error));
    client.on('status', (status) => problems.push(status.message));
    client.on('advertise', (list) => {
      for (const channel of list) channels.set(channel.topic, channel);
    });
    client.on('message', ({ subscriptionId, timestamp, data }) =>
      received
        .get(subscriptionId)
        ?.push({ timestamp, data: new DataView(data.buffer, data.byteOffset, data.byteLength) }),
    );
    await until('channels', () => channels.size > 0);
  });
  after(async () => {
    client?.close();
    await bridge?.close();
    peer?.close();
  });

  it('offers the topics of a recording, with the schemas that Foxglove decodes', () => {
    assert.equal(name, 'farhand demo');
    const joints = channels.get('/farhand/joint_states')!;
    assert.deepEqual([joints.encoding, joints.schemaName], ['cdr', 'sensor_msgs/msg/JointState']);
    assert.match(joints.schema, /float64\[\] position/);
    for (const topic of ['/tf', '/robot_description', '/farhand/command', '/farhand/latency'])
      assert.ok(channels.has(topic), topic);
  });

  it('sends what the robot measures', async () => {
    peer.measuredRad = MODEL.homeRad.map((rad, i) => rad + 0.01 * i);
    const { messages } = await messagesOf('/farhand/joint_states', 3);
    const { data, timestamp } = messages.at(-1)!;
    assert.ok(Math.abs(Number(timestamp / 1_000_000n) - Date.now()) < 2000, 'wall clock');
    const cdr = new CdrReader(data);
    cdr.int32();
    cdr.uint32();
    cdr.string();
    assert.deepEqual(cdr.stringArray(), [...MODEL.joints.map((joint) => joint.name), 'gripper']);
    assert.deepEqual([...cdr.float64Array()].slice(0, 6), peer.measuredRad);
  });

  it('sends the description at once, and the poses of its links', async () => {
    const description = await messagesOf('/robot_description', 1);
    assert.match(new CdrReader(description.messages[0]!.data).string(), /<robot/);
    const { messages } = await messagesOf('/tf', 1);
    assert.equal(new CdrReader(messages[0]!.data).uint32(), MODEL.joints.length + 1);
    const latency = await messagesOf('/farhand/latency', 1);
    const seen = JSON.parse(new TextDecoder().decode(latency.messages[0]!.data)) as { oneWayMs: number };
    assert.ok(seen.oneWayMs >= 20);
  });

  it('sends nothing more after unsubscribing', async () => {
    const { id, messages } = await messagesOf('/farhand/status', 1);
    client.unsubscribe(id);
    await new Promise((resolve) => setTimeout(resolve, 150));
    const count = messages.length;
    await new Promise((resolve) => setTimeout(resolve, 250));
    assert.equal(messages.length, count);
    assert.deepEqual(problems, []);
  });

  it('answers anything else with a complaint, and goes on', async () => {
    for (const text of [
      '{',
      '{"op":"advertise","channels":[]}',
      '{"op":"subscribe","subscriptions":7}',
      '[]',
    ]) {
      const socket = new WebSocket(bridge.url, ['foxglove.sdk.v1']);
      const answers: string[] = [];
      socket.on('message', (data) => answers.push(String(data)));
      await new Promise((resolve) => socket.once('open', resolve));
      socket.send(text);
      await until('a complaint', () => answers.some((answer) => answer.includes('"op":"status"')));
      socket.terminate();
    }
    await messagesOf('/farhand/target', 1);
  });

  it('lets in no other protocol, no web page of strangers and no other host', async () => {
    const status = (protocols: string[], headers: Record<string, string>) =>
      new Promise<number>((resolve) => {
        const socket = new WebSocket(bridge.url, protocols, { headers });
        socket.on('error', () => {});
        socket.once('open', () => resolve(101));
        socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
      });
    assert.equal(await status([], {}), 400);
    assert.equal(await status([SUBPROTOCOL], { origin: 'https://example.com' }), 403);
    assert.equal(await status([SUBPROTOCOL], { host: 'example.com' }), 403);
    assert.equal(await status([SUBPROTOCOL], { origin: 'https://app.foxglove.dev' }), 101);
  });
});
