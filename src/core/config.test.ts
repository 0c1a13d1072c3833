import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { type ConfigTree, overrideTree, resolveConfig } from './config.ts';
import { TeleopError } from './errors.ts';

const schema = z.strictObject({
  name: z.string().default('demo').describe('shown in reports'),
  robot: z
    .strictObject({
      speedPercent: z.number().min(1).max(100).default(100).describe('share of the limits'),
      homeRad: z.array(z.number()).default([0, 0]).describe('resting pose'),
      limits: z.strictObject({ jumpRad: z.number().default(0.1) }).prefault({}),
    })
    .prefault({}),
  inputs: z.record(z.string(), z.record(z.string(), z.unknown())).default({ scripted: {} }),
});

const layer = (source: string, values: ConfigTree) => ({ source, values });

function errorOf(work: () => unknown): TeleopError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof TeleopError, String(error));
    return error;
  }
  return assert.fail('nothing was thrown');
}

describe('config layers', () => {
  it('give defaults when nothing is set', () => {
    const { config, entries } = resolveConfig(schema, []);
    assert.equal(config.robot.speedPercent, 100);
    assert.equal(config.robot.limits.jumpRad, 0.1);
    assert.ok(entries.every((entry) => entry.source === 'default'));
  });

  it('let later layers win, key by key, and remember the source of each value', () => {
    const { config, entries } = resolveConfig(schema, [
      layer('rig a.yaml', { name: 'a', robot: { speedPercent: 50, homeRad: [1, 2] } }),
      layer('command line', { robot: { speedPercent: 20 } }),
    ]);
    assert.deepEqual(config.robot, { speedPercent: 20, homeRad: [1, 2], limits: { jumpRad: 0.1 } });
    const sources = Object.fromEntries(entries.map((entry) => [entry.key, entry.source]));
    assert.deepEqual(sources, {
      name: 'rig a.yaml',
      'robot.speedPercent': 'command line',
      'robot.homeRad': 'rig a.yaml',
      'robot.limits.jumpRad': 'default',
      'inputs.scripted': 'default',
    });
  });

  it('report the value and meaning of every entry', () => {
    const { entries } = resolveConfig(schema, [layer('file', { robot: { speedPercent: 7 } })]);
    const entry = entries.find(({ key }) => key === 'robot.speedPercent');
    assert.deepEqual(entry, {
      key: 'robot.speedPercent',
      value: 7,
      source: 'file',
      about: 'share of the limits',
    });
  });

  it('follow the last layer for any stack of layers', () => {
    const speeds = fc.array(fc.option(fc.integer({ min: 1, max: 100 }), { nil: null }), { maxLength: 6 });
    fc.assert(
      fc.property(speeds, (stack) => {
        const layers = stack.map((speed, i) =>
          layer(`layer ${i}`, speed === null ? {} : { robot: { speedPercent: speed } }),
        );
        const { config, entries } = resolveConfig(schema, layers);
        const last = stack.findLastIndex((speed) => speed !== null);
        const entry = entries.find(({ key }) => key === 'robot.speedPercent')!;
        assert.equal(config.robot.speedPercent, last < 0 ? 100 : stack[last]);
        assert.equal(entry.source, last < 0 ? 'default' : `layer ${last}`);
      }),
    );
  });

  it('replace lists, never merge them', () => {
    const layers = [layer('a', { robot: { homeRad: [1, 2, 3] } }), layer('b', { robot: { homeRad: [4] } })];
    assert.deepEqual(resolveConfig(schema, layers).config.robot.homeRad, [4]);
  });

  it('do not change their layers', () => {
    const file = { robot: { speedPercent: 50 } };
    resolveConfig(schema, [layer('file', file), layer('flag', { robot: { speedPercent: 9 } })]);
    assert.deepEqual(file, { robot: { speedPercent: 50 } });
    assert.equal(Object.isFrozen(file), false);
  });

  it('resolve to a deeply frozen object', () => {
    const { config } = resolveConfig(schema, [layer('file', { inputs: { page: { deep: { er: [1] } } } })]);
    const frozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(frozen));
    assert.ok(frozen(config));
    assert.throws(() => Object.assign(config.robot, { speedPercent: 100 }), TypeError);
  });
});

describe('config errors', () => {
  it('suggest the intended setting and name the source of the wrong one', () => {
    const error = errorOf(() => resolveConfig(schema, [layer('rig a.yaml', { robot: { sppedPercent: 4 } })]));
    assert.equal(error.code, 'bad-config');
    assert.equal(error.message, 'unknown setting "robot.sppedPercent" (from rig a.yaml)');
    assert.equal(error.hint, 'Did you mean "speedPercent"?');
  });

  it('list the known settings when none is similar', () => {
    const error = errorOf(() => resolveConfig(schema, [layer('file', { elephant: 1 })]));
    assert.equal(error.message, 'unknown setting "elephant" (from file)');
    assert.equal(error.hint, 'Known here: name, robot, inputs.');
  });

  it('name key, source and meaning of a bad value', () => {
    const error = errorOf(() =>
      resolveConfig(schema, [
        layer('rig a.yaml', { robot: { speedPercent: 50 } }),
        layer('command line', { robot: { speedPercent: 400 } }),
      ]),
    );
    assert.equal(error.code, 'bad-config');
    assert.match(error.message, /^setting "robot\.speedPercent" is not valid \(from command line\): /);
    assert.match(error.hint, /share of the limits/);
  });

  it('reject a value in place of a group, and vice versa', () => {
    const value = errorOf(() => resolveConfig(schema, [layer('file', { robot: 5 })]));
    assert.match(value.message, /"robot" is not valid \(from file\)/);
    const group = errorOf(() => resolveConfig(schema, [layer('file', { name: { first: 1 } })]));
    assert.match(group.message, /"name" is not valid \(from file\)/);
  });
});

describe('overrides', () => {
  const parse = (text: string): unknown => JSON.parse(text);

  it('turn a dotted key into a tree', () => {
    assert.deepEqual(overrideTree('robot.limits.jumpRad=0.2', parse), {
      robot: { limits: { jumpRad: 0.2 } },
    });
    assert.deepEqual(overrideTree('name="a=b"', parse), { name: 'a=b' });
    assert.deepEqual(overrideTree('host=::', parse), { host: '::' });
  });

  it('explain the syntax of an override', () => {
    for (const text of ['robot.speedPercent', '=5', '']) {
      const error = errorOf(() => overrideTree(text, parse));
      assert.equal(error.code, 'bad-config');
      assert.match(error.hint, /key=value/);
    }
  });

  it('say why a value cannot be parsed', () => {
    const error = errorOf(() => overrideTree('robot.speedPercent=[', parse));
    assert.equal(error.code, 'bad-config');
    assert.match(error.message, /robot\.speedPercent=\[/);
  });

  it('with odd keys are unknown settings and change nothing else', () => {
    const keys = ['__proto__', '__proto__.polluted', 'constructor.polluted', 'robot.__proto__.polluted'];
    // Any name is a key of a record.
    for (const key of [...keys, 'inputs.__proto__', 'inputs.__proto__.polluted', 'inputs.scripted.__proto__'])
      for (const value of ['1', '{"a":1}']) {
        const error = errorOf(() =>
          resolveConfig(schema, [layer('command line', overrideTree(`${key}=${value}`, parse))]),
        );
        assert.match(error.message, /^unknown setting .* \(from command line\)$/);
        assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
        assert.equal(Object.hasOwn(Object.prototype, 'a'), false);
      }
  });
});
