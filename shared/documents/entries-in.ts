import { isJsonObject } from './write/schema-values.ts';

/** Every key of the objects in a value, however deep, with what stands under it; in no particular order. */
export function* entriesIn(value: unknown): Generator<readonly [key: string, inner: unknown]> {
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (Array.isArray(next)) {
      for (const element of next) left.push(element);
    } else if (isJsonObject(next)) {
      for (const entry of Object.entries(next)) {
        yield entry;
        left.push(entry[1]);
      }
    }
  }
}
