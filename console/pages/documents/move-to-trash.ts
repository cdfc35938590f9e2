import { inOneGo, request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { say } from '../../ui/toast.tsx';

interface Place {
  readonly projectId: string;
  readonly collectionName: string;
}

const atOnce = 5;

const each = (ids: readonly string[], act: (id: string) => Promise<unknown>): Promise<void> =>
  inOneGo(async () => {
    for (let from = 0; from < ids.length; from += atOnce) await Promise.all(ids.slice(from, from + atOnce).map(act));
  });

/** Moves documents to the trash, and offers undo for ten seconds. */
export const moveToTrash = async (place: Place, ids: readonly string[]): Promise<void> => {
  await each(ids, (id) => request('delete-project-document', { ...place, id }));
  say(t.documents.trashed(ids.length), () => {
    void each(ids, (id) => request('restore-project-document', { ...place, id }));
  });
};
