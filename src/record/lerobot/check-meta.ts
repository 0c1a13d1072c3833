import { existsSync } from 'node:fs';
import path from 'node:path';
import { type DatasetInfo, INFO_FILE, TASKS_FILE } from './layout.ts';
import type { Problems } from './problems.ts';
import { readTasks } from './read-tasks.ts';

/** The tasks, by task_index. */
export async function checkTasks(dir: string, info: DatasetInfo, problems: Problems): Promise<string[]> {
  const file = path.join(dir, TASKS_FILE);
  if (!existsSync(file)) {
    problems.add('file-missing', TASKS_FILE, null, 'loaders will look for it on the Hub');
    return [];
  }
  try {
    const { names, indices, index } = await readTasks(file);
    if (index === null)
      problems.add(
        'tasks-index',
        TASKS_FILE,
        null,
        'its footer does not declare the task as the index: loaders will return numbers instead of tasks',
      );
    if (info.total_tasks !== names.length)
      problems.add(
        'totals',
        INFO_FILE,
        null,
        `total_tasks is ${JSON.stringify(info.total_tasks)}, but ${TASKS_FILE} has ${names.length}`,
      );
    indices.forEach((found, i) => {
      if (found !== i) problems.add('task', TASKS_FILE, i, `task_index is ${found}, expected ${i}`);
    });
    return names;
  } catch (error) {
    problems.add('file-unreadable', TASKS_FILE, null, (error as Error).message);
    return [];
  }
}
