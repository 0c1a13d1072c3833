/** A value of a Parquet column: a number, or a list of them. */
export const isList = (value: unknown): value is ArrayLike<unknown> =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

export const widthOf = (value: unknown): number => (isList(value) ? value.length : 1);
export const valueAt = (value: unknown, i: number): number => Number(isList(value) ? value[i] : value);
