import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { float64MultiArray, jointState, text } from './ros2.ts';

/** Numbers of type_description_interfaces/msg/FieldType. */
const NESTED = 1;
const INT32 = 6;
const UINT32 = 7;
const DOUBLE = 11;
const STRING = 17;
const SEQUENCE = 144;

const field = (name: string, id: number, nested = '') => ({
  name,
  type: { type_id: id, capacity: 0, string_capacity: 0, nested_type_name: nested },
});
type Fields = ReturnType<typeof field>[];

/** RIHS01: SHA-256 of the description as JSON, with a space after each comma and colon. */
function rihs01(type_name: string, fields: Fields, nested: Record<string, Fields>): string {
  const referenced = Object.keys(nested).sort();
  const description = {
    type_description: { type_name, fields },
    referenced_type_descriptions: referenced.map((name) => ({ type_name: name, fields: nested[name] })),
  };
  const text = JSON.stringify(description).replaceAll(',', ', ').replaceAll(':', ': ');
  return `RIHS01_${createHash('sha256').update(text).digest('hex')}`;
}

describe('type hashes', () => {
  it('are computed like in ROS 2', () => {
    // Published for std_msgs/msg/String.
    const expected = 'RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18';
    assert.equal(rihs01('std_msgs/msg/String', [field('data', STRING)], {}), expected);
    assert.equal(text.hash, expected);
  });

  it('of our messages are correct', () => {
    const dimension = [field('label', STRING), field('size', UINT32), field('stride', UINT32)];
    const layout = [
      field('dim', NESTED + SEQUENCE, 'std_msgs/msg/MultiArrayDimension'),
      field('data_offset', UINT32),
    ];
    const command = [
      field('layout', NESTED, 'std_msgs/msg/MultiArrayLayout'),
      field('data', DOUBLE + SEQUENCE),
    ];
    assert.equal(
      rihs01('std_msgs/msg/Float64MultiArray', command, {
        'std_msgs/msg/MultiArrayDimension': dimension,
        'std_msgs/msg/MultiArrayLayout': layout,
      }),
      float64MultiArray.hash,
    );
    const state = [
      field('header', NESTED, 'std_msgs/msg/Header'),
      field('name', STRING + SEQUENCE),
      ...['position', 'velocity', 'effort'].map((name) => field(name, DOUBLE + SEQUENCE)),
    ];
    assert.equal(
      rihs01('sensor_msgs/msg/JointState', state, {
        'builtin_interfaces/msg/Time': [field('sec', INT32), field('nanosec', UINT32)],
        'std_msgs/msg/Header': [
          field('stamp', NESTED, 'builtin_interfaces/msg/Time'),
          field('frame_id', STRING),
        ],
      }),
      jointState.hash,
    );
  });
});
