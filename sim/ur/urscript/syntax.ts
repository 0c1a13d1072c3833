/** The subset of URScript that this simulator supports. Lines end statements; blocks end with `end`. */
export type Expression =
  | { kind: 'value'; value: number | boolean | string }
  | { kind: 'name'; name: string }
  | { kind: 'list'; items: readonly Expression[] }
  | { kind: 'index'; list: Expression; at: Expression }
  | { kind: 'call'; name: string; args: readonly Expression[]; named: ReadonlyMap<string, Expression> }
  | { kind: 'run'; name: string }
  | { kind: 'not'; of: Expression }
  | { kind: 'two'; operator: string; left: Expression; right: Expression };

export type Statement =
  | { kind: 'assign'; name: string; scope: 'global' | 'local' | ''; value: Expression }
  | { kind: 'do'; call: Expression }
  | { kind: 'while'; condition: Expression; body: readonly Statement[] }
  | { kind: 'if'; branches: readonly { condition: Expression; body: readonly Statement[] }[] }
  | { kind: 'thread'; name: string; body: readonly Statement[] }
  | { kind: 'kill'; name: string }
  | { kind: 'word'; word: 'halt' | 'enter_critical' | 'exit_critical' };

export interface Program {
  name: string;
  body: readonly Statement[];
}

export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}
