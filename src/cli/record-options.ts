import type { Shortcut } from './role-verb.ts';

/** Options of the verbs that run an operator. */
export const RECORD_SHORTCUTS = {
  record: {
    type: 'boolean',
    about: 'record an episode whenever the robot starts to follow (record.start=engage)',
    key: 'record.start',
    set: () => 'engage',
  },
  task: {
    type: 'string',
    value: 'TEXT',
    about: 'task description stored in the recordings (record.task)',
    key: 'record.task',
    set: (text: string) => JSON.stringify(text),
  },
} as const satisfies Record<string, Shortcut>;
