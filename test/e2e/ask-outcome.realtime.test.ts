import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TeleopError } from '../../src/core/errors.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { type Answer, askOperator } from '../../src/desk/ask.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { OperatorPeer } from './operator-peer.ts';

type React = (peer: OperatorPeer, kind: unknown) => void;

/** Sends one request to an operator that reacts in its own way. */
async function ask(kind: string, state: OperatorPeer['state'], react: React, ms = 1500): Promise<Answer> {
  const [deskPort = 0, telemetryPort = 0] = await freeUdpPorts(2);
  const ports = [`console.deskPort=${deskPort}`, `console.telemetryPort=${telemetryPort}`];
  const { config } = loadRig('demo', ports);
  const peer = new OperatorPeer({ deskPort, telemetryPort }, loadModel(config.model), (request) =>
    react(peer, request['kind']),
  );
  peer.state = state;
  peer.estopConfirmedNs = monotonicClock.nowNs();
  try {
    return await askOperator(config, kind, ms);
  } finally {
    peer.close();
  }
}

describe('a reset', () => {
  it('is a success once the robot has stayed idle', async () => {
    const startNs = monotonicClock.nowNs();
    const answer = await ask('reset', 'stopped', (peer) => (peer.state = 'idle'));
    assert.equal(answer.state, 'idle');
    assert.ok(monotonicClock.nowNs() - startNs >= 500e6);
  });

  it('fails if the robot stops again meanwhile', async () => {
    const relapse: React = (peer) => {
      peer.state = 'idle';
      setTimeout(() => (peer.state = 'stopped'), 200);
    };
    await assert.rejects(
      ask('reset', 'stopped', relapse),
      /reset did not last: robot stopped \(e-stop pressed\)/,
    );
  });
});

describe('an e-stop of an operator without state', () => {
  it('is confirmed by the robot’s answer', async () => {
    const answer = await ask('estop', 'disconnected', (peer) => {
      peer.state = 'disconnected';
      peer.estopConfirmedNs = monotonicClock.nowNs();
    });
    assert.deepEqual([answer.state, /another operator/.test(answer.cause)], ['stopped', true]);
  });

  it('is not confirmed by an earlier answer', async () => {
    const silent: React = (peer) => (peer.state = 'disconnected');
    await assert.rejects(ask('estop', 'disconnected', silent, 400), /estop not confirmed within 400 ms/);
  });
});

it('arming without a robot fails after two seconds and says what is missing', async () => {
  await assert.rejects(
    ask('arm', 'disconnected', () => {}, 12_000),
    (error) =>
      error instanceof TeleopError && /2000 ms/.test(error.message) && /farhand robot/.test(error.hint),
  );
});
