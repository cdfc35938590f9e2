import { inOneGo, request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';

interface Place {
  readonly projectId: string;
  readonly collectionName: string;
}

/** Only so many documents can be changed back: their old values are read in one page. */
const most = 100;

/**
 * Reads the values of a field before it is set on many documents. Returns the undo; `undefined` for too many
 * documents. The undo leaves documents that have changed the field since then.
 */
export const undoOfSet = async (
  place: Place,
  where: Readonly<Record<string, unknown>>,
  key: string,
  next: unknown,
): Promise<(() => void) | undefined> => {
  // Objects and lists cannot be compared in a condition.
  if (typeof next === 'object' && next !== null) return undefined;
  const query = { where: JSON.stringify(where), fields: key, limit: most };
  const { data } = await request('list-project-documents', { ...place, query });
  if (!('items' in data) || data.items.length < data.total) return undefined;
  const byValue = Map.groupBy(data.items, (item) => JSON.stringify(item[key]));
  return () => {
    void inOneGo(async () => {
      for (const [text, items] of byValue) {
        const ids = items.map(({ _id }) => _id);
        const changes = text === undefined ? { $unset: [key] } : { [key]: JSON.parse(text) };
        const body = { where: { _id: { $in: ids }, [key]: next }, changes };
        let cursor: string | null = null;
        do {
          const call = { ...place, body: cursor === null ? body : { ...body, cursor } };
          const done: { readonly data: Data<'update-project-documents'> } = await request(
            'update-project-documents',
            call,
          );
          cursor = done.data.cursor;
        } while (cursor !== null);
      }
    });
  };
};
