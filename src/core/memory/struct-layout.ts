/**
 * Fixed layouts over float64 numbers, for data that threads exchange. A struct is declared once; its views read and
 * write the packed numbers in place, so nothing is converted or allocated per access.
 *
 * ```ts
 * const row = struct({ seq: number, engaged: flag, state: oneOf(STATES, 'unknown'), anglesRad: perJoint });
 * const view = row.create(6);
 * view.seq = 1;
 * ring.push(view.packed);
 * ```
 */
export interface NumberField {
  readonly kind: 'number';
}
interface FlagField {
  readonly kind: 'flag';
}
export interface OneOfField<T> {
  readonly kind: 'one-of';
  readonly values: readonly T[];
  readonly otherwise: T;
}
export interface ArrayField {
  readonly kind: 'array';
  /** NaN: one number per joint, as many as the view is created for. */
  readonly count: number;
}
type Field = NumberField | FlagField | OneOfField<string | null> | ArrayField;
type Fields = Readonly<Record<string, Field>>;

type ScalarOf<F> = F extends OneOfField<infer T> ? T : F extends FlagField ? boolean : number;
type ArrayNames<F> = { [K in keyof F]: F[K] extends ArrayField ? K : never }[keyof F];
type Arrays<F> = { readonly [K in ArrayNames<F>]: Float64Array };
type Scalars<F> = { -readonly [K in Exclude<keyof F, ArrayNames<F>>]: ScalarOf<F[K]> };

export interface Packed {
  /** All fields, in order; arrays come last. */
  readonly packed: Float64Array;
}
type View<F> = Packed & Scalars<F> & Arrays<F>;
/** The view of a layout: `StructOf<typeof row>`. */
export type StructOf<L> = L extends StructLayout<infer F> ? View<F> : never;
type Plain<F> = Scalars<F> & Arrays<F>;

export const number: NumberField = { kind: 'number' };
export const flag: FlagField = { kind: 'flag' };
/** One of several texts, stored as its index in the list; an index outside the list reads as `otherwise`. */
export const oneOf = <T extends string, O extends T | null>(
  values: readonly T[],
  otherwise: O,
): OneOfField<T | O> => ({ kind: 'one-of', values, otherwise });
export const numbers = (count: number): ArrayField => ({ kind: 'array', count });
export const perJoint: ArrayField = { kind: 'array', count: Number.NaN };

export interface StructLayout<F extends Fields> {
  /** Names of the scalars, in order. */
  readonly names: readonly Exclude<keyof F, ArrayNames<F>>[];
  size(joints?: number): number;
  /** A view of `packed`, or of its own numbers, initially 0. */
  create(joints?: number, packed?: Float64Array): View<F>;
  /** A copy with ordinary properties and its own arrays. */
  plain(view: View<F>): Plain<F>;
}

export function struct<const F extends Fields>(fields: F): StructLayout<F> {
  const arrays = Object.entries(fields).filter(([, { kind }]) => kind === 'array') as [string, ArrayField][];
  const scalars = Object.entries(fields).filter(([, { kind }]) => kind !== 'array');
  const size = (joints = 0) => arrays.reduce((at, [, { count }]) => at + (count || joints), scalars.length);
  // One class per layout, whatever the number of joints: optimised code serves all of its views.
  class Struct implements Packed {
    readonly packed: Float64Array;
    constructor(packed: Float64Array, joints: number) {
      this.packed = packed;
      let at = scalars.length;
      for (const [name, { count }] of arrays) {
        const value = packed.subarray(at, at + (count || joints));
        Object.defineProperty(this, name, { value, enumerable: true });
        at += value.length;
      }
    }
  }
  scalars.forEach(([name, field], at) => {
    Object.defineProperty(Struct.prototype, name, accessorOf(field, at));
  });
  return {
    names: scalars.map(([name]) => name) as never,
    size,
    create: (joints = 0, packed = new Float64Array(size(joints))) => new Struct(packed, joints) as never,
    plain: (view) => {
      const read = view as unknown as Record<string, unknown>;
      const copies = arrays.map(([name]) => [name, (read[name] as Float64Array).slice()]);
      return Object.fromEntries([...scalars.map(([name]) => [name, read[name]]), ...copies]) as never;
    },
  };
}

/** Written so that the compiler can inline each into its caller. */
function accessorOf(field: Field, at: number): PropertyDescriptor & ThisType<Packed> {
  if (field.kind === 'flag')
    return {
      get() {
        return this.packed[at] === 1;
      },
      set(value: boolean) {
        this.packed[at] = value ? 1 : 0;
      },
    };
  if (field.kind === 'one-of') {
    const { values, otherwise } = field;
    return {
      get() {
        return values[this.packed[at]!] ?? otherwise;
      },
      set(value: string) {
        this.packed[at] = values.indexOf(value);
      },
    };
  }
  return {
    get() {
      return this.packed[at];
    },
    set(value: number) {
      this.packed[at] = value;
    },
  };
}
