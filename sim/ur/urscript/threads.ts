import { type Expression, type Program, ScriptError, type Statement } from './syntax.ts';

export type Value = number | boolean | string | readonly Value[] | ScriptThread;

/** What a thread waits for when it yields: the next controller period, or a socket check. */
export type Waiting = 'period' | 'socket';
export type Step = Generator<Waiting, Value, void>;

/** A function of the controller, immediate or waiting. Named arguments follow positional ones. */
export type Builtin = (
  thread: ScriptThread,
  args: readonly Value[],
  named: ReadonlyMap<string, Value>,
) => Value | Step;

const MAX_OPERATIONS_PER_PERIOD = 100_000;

/** One thread of a program: a generator that runs until it waits for something. */
export class ScriptThread {
  readonly locals = new Map<string, Value>();
  critical = false;
  #code: Generator<Waiting, void, void>;
  #done = false;

  constructor(code: (thread: ScriptThread) => Generator<Waiting, void, void>) {
    this.#code = code(this);
  }

  get done(): boolean {
    return this.#done;
  }

  kill(): void {
    this.#done = true;
  }

  /** Runs until the next wait. */
  resume(): void {
    if (this.#done) return;
    const { done, value } = this.#code.next();
    if (done) this.#done = true;
    else if (value === 'period' && this.critical) throw new ScriptError('waits in a critical section');
  }
}

/**
 * Runs a program's threads in turn, each until it waits. A thread sees globals and its own variables, nothing else;
 * lists are copied on assignment. Anything that makes a controller stop a program is a ScriptError.
 */
export class ScriptRun {
  readonly #builtins: Readonly<Record<string, Builtin>>;
  readonly #globals = new Map<string, Value>();
  readonly #bodies = new Map<string, readonly Statement[]>();
  readonly #threads: ScriptThread[] = [];
  #operations = 0;

  constructor(program: Program, builtins: Readonly<Record<string, Builtin>>) {
    this.#builtins = builtins;
    this.#threads.push(this.#thread(program.body));
  }

  get done(): boolean {
    return this.#threads[0]!.done;
  }

  /** One controller period for every thread, in the order they were started. */
  period(): void {
    this.#operations = 0;
    for (const thread of [...this.#threads]) {
      if (this.done) return;
      thread.resume();
    }
  }

  #thread(body: readonly Statement[]): ScriptThread {
    return new ScriptThread((thread) => this.#block(thread, body));
  }

  *#block(thread: ScriptThread, body: readonly Statement[]): Generator<Waiting, void, void> {
    for (const statement of body) {
      if (thread.done) return;
      yield* this.#statement(thread, statement);
    }
  }

  *#statement(thread: ScriptThread, statement: Statement): Generator<Waiting, void, void> {
    if (++this.#operations > MAX_OPERATIONS_PER_PERIOD) throw new ScriptError('a loop that never waits');
    switch (statement.kind) {
      case 'assign':
        return this.#assign(
          thread,
          statement.scope,
          statement.name,
          yield* this.#value(thread, statement.value),
        );
      case 'do':
        yield* this.#value(thread, statement.call);
        return;
      case 'while':
        while (!thread.done && truth(yield* this.#value(thread, statement.condition))) {
          if (++this.#operations > MAX_OPERATIONS_PER_PERIOD)
            throw new ScriptError('a loop that never waits');
          yield* this.#block(thread, statement.body);
        }
        return;
      case 'if':
        for (const { condition, body } of statement.branches)
          if (truth(yield* this.#value(thread, condition))) return yield* this.#block(thread, body);
        return;
      case 'thread':
        this.#bodies.set(statement.name, statement.body);
        return;
      case 'kill':
        return this.#kill(thread, statement.name);
      case 'word':
        return this.#word(thread, statement.word);
    }
  }

  #word(thread: ScriptThread, word: 'halt' | 'enter_critical' | 'exit_critical'): void {
    if (word === 'halt') for (const each of this.#threads) each.kill();
    else if (thread.critical === (word === 'enter_critical')) throw new ScriptError(`${word} twice`);
    else thread.critical = word === 'enter_critical';
  }

  #kill(thread: ScriptThread, name: string): void {
    const victim = this.#read(thread, name);
    if (!(victim instanceof ScriptThread)) throw new ScriptError(`${name} is not a thread`);
    victim.kill();
  }

  #assign(thread: ScriptThread, scope: string, name: string, value: Value): void {
    const copy = Array.isArray(value) ? [...value] : value;
    if (scope === 'global' || (scope === '' && !thread.locals.has(name) && this.#globals.has(name)))
      this.#globals.set(name, copy);
    else thread.locals.set(name, copy);
  }

  #read(thread: ScriptThread, name: string): Value {
    const value = thread.locals.get(name) ?? this.#globals.get(name);
    if (value === undefined) throw new ScriptError(`${name} has no value`);
    return value;
  }

  *#value(thread: ScriptThread, expression: Expression): Step {
    switch (expression.kind) {
      case 'value':
        return expression.value;
      case 'name':
        return this.#read(thread, expression.name);
      case 'not':
        return !truth(yield* this.#value(thread, expression.of));
      case 'list':
        return yield* this.#values(thread, expression.items);
      case 'index': {
        const list = yield* this.#value(thread, expression.list);
        const item = Array.isArray(list)
          ? list[number(yield* this.#value(thread, expression.at))]
          : undefined;
        if (item === undefined) throw new ScriptError('index out of range');
        return item as Value;
      }
      case 'run':
        return this.#start(expression.name);
      case 'call':
        return yield* this.#call(thread, expression);
      case 'two':
        return yield* this.#two(thread, expression);
    }
  }

  *#values(thread: ScriptThread, expressions: readonly Expression[]): Generator<Waiting, Value[], void> {
    const values: Value[] = [];
    for (const expression of expressions) values.push(yield* this.#value(thread, expression));
    return values;
  }

  #start(name: string): ScriptThread {
    const body = this.#bodies.get(name);
    if (body === undefined) throw new ScriptError(`no thread ${name}`);
    const started = this.#thread(body);
    this.#threads.push(started);
    return started;
  }

  *#call(thread: ScriptThread, call: Extract<Expression, { kind: 'call' }>): Step {
    const builtin = Object.hasOwn(this.#builtins, call.name) ? this.#builtins[call.name] : undefined;
    if (builtin === undefined) throw new ScriptError(`no function ${call.name}`);
    const args = yield* this.#values(thread, call.args);
    const named = new Map<string, Value>();
    for (const [name, value] of call.named) named.set(name, yield* this.#value(thread, value));
    const result = builtin(thread, args, named);
    return typeof result === 'object' && 'next' in result ? yield* result : result;
  }

  *#two(thread: ScriptThread, { operator, left, right }: Extract<Expression, { kind: 'two' }>): Step {
    const a = yield* this.#value(thread, left);
    if (operator === 'and' && !truth(a)) return false;
    if (operator === 'or' && truth(a)) return true;
    const b = yield* this.#value(thread, right);
    if (operator === 'and' || operator === 'or') return truth(b);
    if (operator === '==' || operator === '!=') return (a === b) === (operator === '==');
    return OPERATORS[operator]!(number(a), number(b));
  }
}

const OPERATORS: Readonly<Record<string, (a: number, b: number) => Value>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

export function number(value: Value): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new ScriptError('expected a number');
}

function truth(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  throw new ScriptError('expected True or False');
}
