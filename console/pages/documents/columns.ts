const mostColumns = 8;
const system: ReadonlySet<string> = new Set(['isDeleted', 'deletedAt', 'updatedAt', '__v']);

/** Which fields a table shows: those of the schema, or those that its documents have, and when they were made. */
export const columnsOf = (
  schema: readonly { readonly key: string }[] | null | undefined,
  documents: readonly Readonly<Record<string, unknown>>[] | undefined,
): readonly string[] => {
  const fields = new Set(schema?.map(({ key }) => key));
  for (const document of documents ?? [])
    for (const key of Object.keys(document)) if (!system.has(key)) fields.add(key);
  fields.delete('_id');
  fields.delete('createdAt');
  const shown = [...fields].slice(0, mostColumns);
  return [...(shown.length === 0 ? ['_id'] : shown), 'createdAt'];
};
