import type { z } from 'zod';
import type { SourcePlugin } from '../camera/source.ts';
import type { InputPlugin } from '../input/device.ts';
import type { DriverPlugin } from '../robot/driver.ts';
import type { GripperPlugin } from '../robot/gripper.ts';

/** Changes when plug-ins made for an earlier Farhand no longer work. */
export const PLUGIN_API = 1;

/** What marks a default export as a plug-in. */
export interface PluginMark<Kind extends string = string> {
  readonly farhand: { readonly kind: Kind; readonly api: number };
}

/** The same plug-in, with its settings typed by its schema. */
type Typed<Plugin, Schema extends z.ZodType> = Omit<Plugin, 'config'> & { readonly config: Schema };

const marked = <Kind extends string, Plugin extends object>(kind: Kind, plugin: Plugin) => ({
  ...plugin,
  farhand: { kind, api: PLUGIN_API },
});

/** The default export of a package `farhand-robot-NAME`; `robot.driver: NAME` in a rig selects it. */
export const defineRobot = <S extends z.ZodType>(
  plugin: Typed<DriverPlugin<z.output<S>>, S>,
): DriverPlugin<z.output<S>> & PluginMark<'driver'> =>
  marked('driver', plugin) as unknown as DriverPlugin<z.output<S>> & PluginMark<'driver'>;

/** The default export of a package `farhand-gripper-NAME`; `robot.gripper: NAME` selects it. */
export const defineGripper = <S extends z.ZodType>(
  plugin: Typed<GripperPlugin<z.output<S>>, S>,
): GripperPlugin<z.output<S>> & PluginMark<'gripper'> =>
  marked('gripper', plugin) as unknown as GripperPlugin<z.output<S>> & PluginMark<'gripper'>;

/** The default export of a package `farhand-input-NAME`; a key of `operator.inputs` offers it. */
export const defineInput = <S extends z.ZodType>(
  plugin: Typed<InputPlugin<z.output<S>>, S>,
): InputPlugin<z.output<S>> & PluginMark<'input'> =>
  marked('input', plugin) as unknown as InputPlugin<z.output<S>> & PluginMark<'input'>;

/** The default export of a package `farhand-camera-NAME`; `source: NAME` of a camera selects it. */
export const defineCamera = <S extends z.ZodType>(
  plugin: Typed<SourcePlugin<z.output<S>>, S>,
): SourcePlugin<z.output<S>> & PluginMark<'camera'> =>
  marked('camera', plugin) as unknown as SourcePlugin<z.output<S>> & PluginMark<'camera'>;
