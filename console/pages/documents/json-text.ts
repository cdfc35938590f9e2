/** A document as people edit it. */
export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2);

/** What was typed, or what is wrong with it, in the browser's own words. */
export const parsedObject = (
  text: string,
): { readonly value: Record<string, unknown> } | { readonly wrong: string } => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { value: value as Record<string, unknown> };
    return { wrong: 'A document is a JSON object: {…}' };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
};

const system: ReadonlySet<string> = new Set(['_id', 'createdAt', 'updatedAt', 'isDeleted', 'deletedAt']);

/** What an update sends: the fields that differ. What was taken out cannot be sent, and is named. */
export const changesOf = (
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): { readonly changes: Record<string, unknown>; readonly removed: readonly string[] } => {
  const changes: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(after)) {
    if (!system.has(key) && JSON.stringify(value) !== JSON.stringify(before[key])) changes[key] = value;
  }
  return { changes, removed: Object.keys(before).filter((key) => !system.has(key) && !Object.hasOwn(after, key)) };
};
