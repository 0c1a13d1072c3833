import { TeleopError } from '../core/errors.ts';
import type { Task } from './task.ts';
import { drawerTask } from './tasks/drawer.ts';
import { handover } from './tasks/handover.ts';
import { pegTask } from './tasks/peg.ts';
import { sort } from './tasks/sort.ts';
import { stack } from './tasks/stack.ts';

export const TASKS: readonly Task[] = [sort, stack, pegTask, drawerTask, handover];
export const TASK_NAMES: readonly string[] = TASKS.map(({ name }) => name);

export function taskNamed(name: string): Task {
  const task = TASKS.find((each) => each.name === name);
  if (task !== undefined) return task;
  throw new TeleopError('bad-option', `there is no task "${name}"`, {
    hint: `Choose one of ${TASK_NAMES.join(', ')}; \`farhand world list\` describes them.`,
  });
}
