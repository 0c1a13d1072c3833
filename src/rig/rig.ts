import { existsSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { camerasConfig } from '../camera/config.ts';
import {
  type ConfigLayer,
  type ConfigTree,
  overrideTree,
  type ResolvedConfig,
  resolveConfig,
} from '../core/config.ts';
import { TeleopError } from '../core/errors.ts';
import { hostSetting } from '../core/host-setting.ts';
import { namedFile, readYaml, yamlNames } from '../files/yaml-files.ts';
import { armMapperConfig } from '../mapping/arm-mapper.ts';
import { handMapperConfig } from '../mapping/hand-mapper.ts';
import { PLAYOUT_QUALITIES } from '../messages/playout-request.ts';
import { recordConfig } from '../record/config.ts';
import { MAX_CAP_MS, MIN_CAP_MS } from '../robot/playout/policy.ts';
import { realtimePriority, robotConfig } from '../robot/robot-config.ts';
import { MAX_REDUNDANCY } from '../wire/codecs/command.ts';
import { armsConfig } from './arms-config.ts';
import { fleetConfig } from './fleet-config.ts';
import { handPublishConfig } from './hand-publish-config.ts';
import { leaderConfig } from './leader-config.ts';
import { loadPerson } from './people.ts';

const port = z.int().min(0).max(65535);
const options = z.record(z.string(), z.unknown());

/** Everything one teleoperation set-up needs, both roles in one file. */
export const rigSchema = z.strictObject({
  name: z.string().default('demo').describe('shown in reports and recordings'),
  model: z
    .string()
    .default('ur3')
    .describe('robot model: a file in robots/, or the path of a YAML or URDF file'),
  handedness: z
    .enum(['right', 'left'])
    .optional()
    .describe('the hand that drives, for inputs whose setting `hand` the rig does not set'),
  arms: armsConfig
    .nullable()
    .default(null)
    .describe('two arms driven by one person, one for each hand; null: one arm'),
  operator: z
    .strictObject({
      hz: z.number().min(1).max(1000).default(100).describe('operator ticks per second'),
      input: z.string().default('scripted').describe('input device selected at the start'),
      inputs: z
        .record(z.string(), options)
        .default({ scripted: {} })
        .describe('available input devices, with their settings'),
      roles: z
        .strictObject({
          clutch: z
            .string()
            .nullable()
            .default(null)
            .describe('input whose clutch counts, whichever input a person drives with; null: its own'),
          record: z.string().nullable().default(null).describe('input whose record button counts; null: any'),
        })
        .prefault({})
        .describe('inputs that share the work with the one that drives, such as pedals'),
      realtimePriority: realtimePriority,
      autoArm: z.boolean().default(false).describe('arm the robot once, at first contact, if it is idle'),
      homeSpeedRadS: z.number().min(0.05).max(1).default(0.4).describe('fastest joint while homing'),
      mapper: armMapperConfig.prefault({}),
      leader: leaderConfig.prefault({}).describe('torques of a leader arm (`farhand leader`)'),
      handPublish: handPublishConfig.prefault({}).describe('stages of a tracked hand, for other programs'),
      hand: handMapperConfig.prefault({}).describe('fingers of a robot hand (models of family hand)'),
      handPlayout: z
        .string()
        .default('none')
        .describe(
          'absorbs jitter between an input device and the operator: a playout policy as in robot.playout; in a fleet session of a page adaptive',
        ),
      outageHoldS: z
        .number()
        .min(0)
        .max(60)
        .default(0)
        .describe(
          'the robot holds through an outage of this many seconds (at most robot.maxOutageHoldS) before it stops; 0: it stops after 1 s',
        ),
      playoutQuality: z
        .enum(PLAYOUT_QUALITIES)
        .nullable()
        .default(null)
        .describe('requests a trade-off of delay against smoothness; null: the robot’s own'),
      playoutCapMs: z
        .number()
        .min(MIN_CAP_MS)
        .max(MAX_CAP_MS)
        .nullable()
        .default(null)
        .describe('requests at most this delay above the link’s minimum; null: the robot’s own'),
    })
    .prefault({}),
  link: z
    .strictObject({
      robotHost: hostSetting
        .default('127.0.0.1')
        .describe('the robot’s address or name for the operator; an IPv6 address without brackets'),
      listenHost: hostSetting
        .default('127.0.0.1')
        .describe('address or name the robot listens on; 0.0.0.0: all of IPv4, "::": all; no brackets'),
      announce: z
        .string()
        .refine((name) => new TextEncoder().encode(name).length <= 48, 'at most 48 bytes')
        .default('')
        .describe('robot: name to announce on the local network (multicast DNS); empty: none'),
      commandPort: port.default(4750).describe('UDP: commands and receipts'),
      statePort: port.default(4751).describe('UDP: robot state'),
      syncPort: port.default(4752).describe('UDP: clock synchronization'),
      redundancy: z
        .union([z.literal('auto'), z.int().min(0).max(MAX_REDUNDANCY)])
        .default('auto')
        .describe('earlier commands repeated in every packet; auto: as many as the robot’s losses call for'),
      transport: z
        .enum(['udp', 'zmq', 'websocket', 'datachannel', 'webrtc'])
        .default('udp')
        .describe(
          'udp; for comparison zmq (ZeroMQ PUB/SUB over TCP), websocket and datachannel (WebRTC, unordered); webrtc: through a fleet, the default there',
        ),
      security: z
        .enum(['paired', 'plain'])
        .default('paired')
        .describe('paired: authenticated and encrypted; plain: neither, loopback only'),
      keyFile: z
        .string()
        .default('')
        .describe(
          'key name or file from `farhand pair`; empty: robot: every paired key, operator: its only one',
        ),
      reactor: z
        .enum(['auto', 'native', 'dgram'])
        .default('auto')
        .describe('native: sockets with kernel stamps; dgram: Node’s own; auto: native if available'),
      clock: z
        .enum(['exchange', 'wall'])
        .default('exchange')
        .describe(
          'exchange: estimates the robot’s clock; wall: both machines’ wall clocks are synchronized, as with PTP',
        ),
      wallErrorMs: z
        .number()
        .min(0)
        .max(100)
        .default(0.1)
        .describe('with link.clock=wall: how far the two wall clocks may be apart'),
    })
    .prefault({}),
  robot: robotConfig.prefault({}),
  cameras: camerasConfig.prefault({}),
  record: recordConfig.prefault({}),
  fleet: fleetConfig.prefault({}),
  trace: z
    .strictObject({
      dir: z.string().default('traces').describe('folder of the trace files; empty: none'),
      rotateBytes: z
        .int()
        .min(65536)
        .default(256 * 2 ** 20)
        .describe('size at which a new file is started'),
    })
    .prefault({}),
  console: z
    .strictObject({
      host: hostSetting.default('127.0.0.1').describe('address or name the page is served on'),
      port: port.default(4747).describe('HTTP port of the page'),
      https: z
        .boolean()
        .default(false)
        .describe('HTTPS with a self-made certificate, for other machines; they must pair'),
      trustLocal: z
        .boolean()
        .default(true)
        .describe('a browser on the console’s machine is an operator without pairing'),
      deskPort: port.default(4760).describe('UDP: requests and hand poses from the console to the operator'),
      telemetryPort: port.default(4761).describe('UDP: telemetry from the operator to the console'),
    })
    .prefault({}),
});

export type Rig = z.infer<typeof rigSchema>;

export interface LoadedRig extends ResolvedConfig<Rig> {
  /** What was ignored, for people. */
  notes: string[];
}

/** A rig by name (a file in rigs/) or path, with `key=value` overrides on top. */
export function loadRig(nameOrPath: string, overrides: readonly string[]): LoadedRig {
  const layers: ConfigLayer[] = [];
  const file = rigFile(nameOrPath);
  const notes: string[] = [];
  const own = withoutForeignOptions(settingsOf(file), overrides, notes);
  layers.push({ source: `rig ${path.basename(file)}`, values: own });
  for (const text of overrides)
    layers.push({
      source: 'command line',
      values: overrideTree(text.replace(/^world\./, 'robot.options.'), (value) =>
        value === '' ? '' : (parse(value) as unknown),
      ),
    });
  const resolved = resolveConfig(
    rigSchema,
    layers.map(({ source, values }) => ({ source, values: withPerson(values) })),
  );
  return { ...resolved, notes };
}

/** An empty file is a mistake: with nothing but defaults it would start the demo's arm. */
function settingsOf(file: string): ConfigTree {
  const read = readYaml(file);
  if (typeof read === 'object' && read !== null && !Array.isArray(read) && Object.keys(read).length > 0)
    return read as ConfigTree;
  throw new TeleopError('bad-config', `rig file ${file} has no settings`, {
    hint: 'Start from a shipped rig (`farhand config rigs`), or set at least `model: ur3`.',
  });
}

/** `robot.driver=sim` on the rig of a real robot: the file's options are those of another driver. */
function withoutForeignOptions(file: ConfigTree, overrides: readonly string[], notes: string[]): ConfigTree {
  const chosen = overrides
    .findLast((text) => text.startsWith('robot.driver='))
    ?.slice('robot.driver='.length);
  const robot = treeAt(file, 'robot');
  const driver = robot['driver'] ?? 'sim';
  if (chosen === undefined || driver === chosen) return file;
  const arms = treeAt(file, 'arms');
  const sides = Object.entries(arms).filter(
    ([, arm]) => hasOptions(arm) && !('driver' in treeAt(arm, 'robot')),
  );
  if (!hasOptions(file) && sides.length === 0) return file;
  notes.push(`robot.options of the rig are for driver ${String(driver)}: ignored with driver ${chosen}`);
  const bare = Object.fromEntries(sides.map(([side, arm]) => [side, withoutOptions(arm as ConfigTree)]));
  const own = 'robot' in file ? withoutOptions(file) : file;
  return sides.length === 0 ? own : { ...own, arms: { ...arms, ...bare } };
}

function treeAt(tree: unknown, key: string): ConfigTree {
  const found = typeof tree === 'object' && tree !== null ? (tree as ConfigTree)[key] : undefined;
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as ConfigTree) : {};
}

const hasOptions = (tree: unknown): boolean => treeAt(tree, 'robot')['options'] !== undefined;

function withoutOptions(tree: ConfigTree): ConfigTree {
  const { options: _, ...robot } = treeAt(tree, 'robot');
  return { ...tree, robot };
}

/** A person given by name is replaced by the measured hand. */
function withPerson(values: ConfigTree): ConfigTree {
  const operator = values['operator'] as ConfigTree | undefined;
  const hand = operator?.['hand'] as ConfigTree | undefined;
  const name = hand?.['person'];
  if (typeof name !== 'string') return values;
  return { ...values, operator: { ...operator, hand: { ...hand, person: loadPerson(name) } } };
}

function rigFile(nameOrPath: string): string {
  if (/[\\/]|\.ya?ml$/.test(nameOrPath)) {
    if (existsSync(nameOrPath)) return nameOrPath;
    throw new TeleopError('file-missing', `rig file ${nameOrPath} does not exist`, {
      hint: 'Give the path of a YAML file, or the name of a shipped rig (`farhand config rigs`).',
    });
  }
  return namedFile('rigs', 'rig', nameOrPath);
}

export const rigNames = (): string[] => yamlNames('rigs');
