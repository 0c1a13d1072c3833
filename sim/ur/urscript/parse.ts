import { type Expression, type Program, ScriptError, type Statement } from './syntax.ts';

const TOKEN = /\s*(\d+\.?\d*(?:[eE][+-]?\d+)?|"[^"]*"|[A-Za-z_]\w*|==|!=|<=|>=|[-+*/<>=()[\],])/y;
const WORDS = ['halt', 'enter_critical', 'exit_critical'] as const;
const LEVELS: readonly (readonly string[])[] = [
  ['or'],
  ['and'],
  ['==', '!=', '<', '<=', '>', '>='],
  ['+', '-'],
  ['*', '/'],
];
const COMPARISON = 2;
const MAX_LINES = 2000;

/** One program, `def name(): … end`. Throws a ScriptError with the line on anything it cannot parse. */
export function parseProgram(text: string): Program {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/#.*$/, '').trim())
    .map((line, i) => ({ line, number: i + 1 }))
    .filter(({ line }) => line !== '');
  if (lines.length > MAX_LINES) throw new ScriptError('program too long');
  const blocks = new Blocks(lines);
  const name = /^def (\w+)\(\):$/.exec(blocks.next())?.[1];
  if (name === undefined) throw blocks.error('a program begins with def name():');
  const body = blocks.body(['end']).statements;
  if (!blocks.atEnd) throw blocks.error('something follows the end of the program');
  return { name, body };
}

class Blocks {
  readonly #lines: readonly { line: string; number: number }[];
  #at = 0;

  constructor(lines: readonly { line: string; number: number }[]) {
    this.#lines = lines;
  }

  get atEnd(): boolean {
    return this.#at >= this.#lines.length;
  }

  error(why: string): ScriptError {
    return new ScriptError(`line ${this.#lines[this.#at - 1]?.number ?? 'last'}: ${why}`);
  }

  next(): string {
    const entry = this.#lines[this.#at++];
    if (entry === undefined) throw this.error('a block has no `end`');
    return entry.line;
  }

  /** Statements up to a line that is or begins with one of `ends`; that line is consumed. */
  body(ends: readonly string[]): { statements: Statement[]; end: string } {
    const statements: Statement[] = [];
    for (;;) {
      const line = this.next();
      if (ends.some((end) => line === end || (end === 'elif' && line.startsWith('elif '))))
        return { statements, end: line };
      statements.push(this.#statement(line));
    }
  }

  #statement(line: string): Statement {
    const word = WORDS.find((known) => known === line);
    if (word !== undefined) return { kind: 'word', word };
    const thread = /^thread (\w+)\(\):$/.exec(line);
    if (thread !== null) return { kind: 'thread', name: thread[1]!, body: this.body(['end']).statements };
    const kill = /^kill (\w+)$/.exec(line);
    if (kill !== null) return { kind: 'kill', name: kill[1]! };
    const loop = /^while (.+):$/.exec(line);
    if (loop !== null)
      return { kind: 'while', condition: this.#expression(loop[1]!), body: this.body(['end']).statements };
    const choice = /^if (.+):$/.exec(line);
    if (choice !== null) return this.#choice(choice[1]!);
    const assign = /^(?:(global|local) )?([A-Za-z_]\w*) = (.+)$/.exec(line);
    if (assign !== null) {
      const scope = (assign[1] ?? '') as 'global' | 'local' | '';
      return { kind: 'assign', scope, name: assign[2]!, value: this.#expression(assign[3]!) };
    }
    return { kind: 'do', call: this.#expression(line) };
  }

  #choice(first: string): Statement {
    const branches: { condition: Expression; body: Statement[] }[] = [];
    let condition = this.#expression(first);
    for (;;) {
      const { statements, end } = this.body(['elif', 'else:', 'end']);
      branches.push({ condition, body: statements });
      if (end === 'end') return { kind: 'if', branches };
      const next = /^elif (.+):$/.exec(end)?.[1];
      if (next !== undefined) condition = this.#expression(next);
      else {
        const otherwise: Expression = { kind: 'value', value: true };
        branches.push({ condition: otherwise, body: this.body(['end']).statements });
        return { kind: 'if', branches };
      }
    }
  }

  #expression(text: string): Expression {
    try {
      return new Tokens(text).whole();
    } catch (error) {
      throw this.error((error as Error).message);
    }
  }
}

class Tokens {
  readonly #tokens: string[] = [];
  #at = 0;

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
      const from = TOKEN.lastIndex;
      const match = TOKEN.exec(text);
      if (match === null) throw new ScriptError(`cannot parse: ${text.slice(from)}`);
      this.#tokens.push(match[1]!);
    }
  }

  whole(): Expression {
    const expression = this.#level(0);
    if (this.#at < this.#tokens.length) throw new ScriptError(`unexpected ${this.#tokens[this.#at]}`);
    return expression;
  }

  #level(level: number): Expression {
    if (level === LEVELS.length) return this.#unary();
    if (level === COMPARISON && this.#accept('not')) return { kind: 'not', of: this.#level(level) };
    let left = this.#level(level + 1);
    while (LEVELS[level]!.includes(this.#peek())) {
      const operator = this.#take();
      left = { kind: 'two', operator, left, right: this.#level(level + 1) };
    }
    return left;
  }

  #unary(): Expression {
    if (this.#accept('-'))
      return { kind: 'two', operator: '-', left: { kind: 'value', value: 0 }, right: this.#unary() };
    let expression = this.#primary();
    while (this.#accept('[')) {
      expression = { kind: 'index', list: expression, at: this.#level(0) };
      this.#expect(']');
    }
    return expression;
  }

  #primary(): Expression {
    const token = this.#take();
    if (/^\d/.test(token)) return { kind: 'value', value: Number(token) };
    if (token.startsWith('"')) return { kind: 'value', value: token.slice(1, -1) };
    if (token === 'True' || token === 'False') return { kind: 'value', value: token === 'True' };
    if (token === '(') {
      const inner = this.#level(0);
      this.#expect(')');
      return inner;
    }
    if (token === '[') return { kind: 'list', items: this.#items(']').args };
    if (!/^[A-Za-z_]/.test(token)) throw new ScriptError(`unexpected ${token}`);
    if (token === 'run') {
      const name = this.#take();
      this.#expect('(');
      this.#expect(')');
      return { kind: 'run', name };
    }
    return this.#accept('(')
      ? { kind: 'call', name: token, ...this.#items(')') }
      : { kind: 'name', name: token };
  }

  #items(end: string): { args: Expression[]; named: Map<string, Expression> } {
    const args: Expression[] = [];
    const named = new Map<string, Expression>();
    while (!this.#accept(end)) {
      if (this.#tokens[this.#at + 1] === '=') {
        const name = this.#take();
        this.#take();
        named.set(name, this.#level(0));
      } else args.push(this.#level(0));
      if (this.#peek() !== end) this.#expect(',');
    }
    return { args, named };
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? '';
  }

  #take(): string {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new ScriptError('the line ends too soon');
    return token;
  }

  #accept(token: string): boolean {
    if (this.#peek() !== token) return false;
    this.#at++;
    return true;
  }

  #expect(token: string): void {
    if (!this.#accept(token)) throw new ScriptError(`${token} expected`);
  }
}
