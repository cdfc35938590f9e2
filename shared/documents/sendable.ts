const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/**
 * A stored value as the driver takes it: where an object has a field `_bsontype` of its own, which only databases of a
 * project's own can hold, the driver would read it as a type that it is not, so it becomes a map of its fields.
 */
export const sendable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sendable);
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sendable(inner)] as const);
  return Object.hasOwn(value, '_bsontype') ? new Map(entries) : Object.fromEntries(entries);
};
