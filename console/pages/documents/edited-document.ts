import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Field } from '../../../shared/collections/collection.ts';
import { etagOf } from '../../api/ask.ts';
import { problemOf } from '../../api/problem.ts';
import { request, tellWritten } from '../../api/request.ts';
import { rows } from '../../text/rows.ts';
import { t } from '../../text/words.ts';
import { problemText } from '../../ui/problem-text.ts';
import { say } from '../../ui/toast.tsx';
import { requireFit } from './document-check.ts';
import { type Choice, type Conflict, conflictsOf, rebased } from './document-conflict.ts';
import { type Change, changesOf, type Draft, draftFrom, type JsonObject, notStored } from './document-draft.ts';
import { nameOf } from './ref-address.ts';

interface Edited {
  readonly draft: Draft;
  /** The revision that it started from, so that no other change is overwritten. */
  readonly ifMatch: string | undefined;
  /** What someone else has saved in the meantime. */
  readonly theirs?: { readonly document: JsonObject; readonly conflicts: readonly Conflict[] };
}

interface Place {
  readonly projectId: string;
  readonly collectionName: string;
  readonly id: string;
}

/** Returns the body that takes changes back. */
const undoneBy = (changes: readonly Change[]): JsonObject => {
  const unset = changes.filter(({ before }) => before === undefined).map(({ key }) => key);
  const set = changes.filter(({ before }) => before !== undefined).map(({ key, before }) => [key, before] as const);
  return { ...Object.fromEntries(set), ...(unset.length > 0 && { $unset: unset }) };
};

/**
 * A document while it is edited, across changes that others save. With `inList` the message about a saved change
 * names the document, which the list does not mark, and has an undo.
 */
export const useEditedDocument = (
  { projectId, collectionName, id }: Place,
  rules: readonly Field[],
  inList = false,
) => {
  const edited = useSignal<Edited | undefined>(undefined);
  const acts = useMemo(() => {
    const place = { projectId, collectionName, id };
    /** Takes a change back, unless the document has changed again. */
    const undo = async (changes: readonly Change[], ifMatch: string | undefined): Promise<void> => {
      try {
        await request('update-project-document', { ...place, body: undoneBy(changes), ifMatch });
      } catch (error) {
        say(problemText(error));
      }
    };
    const send = async ({ draft, ifMatch }: Edited): Promise<void> => {
      const changes = changesOf(draft);
      const body = Object.fromEntries(changes.map(({ key, after }) => [key, after]));
      const stored =
        Object.keys(body).length > 0
          ? (await request('update-project-document', { ...place, body, ifMatch })).data
          : draft.base;
      edited.value = undefined;
      const unstored = notStored(draft, body, stored);
      if (!inList) return say(t.documents.done(t.documents.saved, unstored));
      const keys = changes.map(({ key }) => key).join(', ');
      say(t.documents.done(rows.edit.saved(nameOf(stored), keys), unstored), () => void undo(changes, etagOf(stored)));
    };
    /** Saves. If the document has another revision by now, that version is shown beside the draft. */
    const save = async (now: Edited): Promise<void> => {
      try {
        await send(now);
      } catch (error) {
        const { code } = problemOf(error);
        // The list still shows the old state.
        if (code === 'REVISION_MISMATCH' || code === 'DOCUMENT_NOT_FOUND')
          tellWritten(`/api/projects/${projectId}/collections/${collectionName}`);
        if (code !== 'REVISION_MISMATCH') throw error;
        const { data: document } = await request('get-project-document', place);
        edited.value = { ...now, theirs: { document, conflicts: conflictsOf(now.draft, document) } };
      }
    };
    return {
      begin: (document: JsonObject): void => {
        edited.value ??= { draft: draftFrom(document), ifMatch: etagOf(document) };
      },
      stop: (): void => {
        edited.value = undefined;
      },
      change: (change: (draft: Draft) => Draft): void => {
        const now = edited.peek();
        if (now) edited.value = { ...now, draft: change(now.draft) };
      },
      save: async (): Promise<void> => {
        const now = edited.peek();
        if (!now) return;
        requireFit(rules, now.draft, false);
        await save(now);
      },
      settle: async (choices: Readonly<Record<string, Choice>>): Promise<void> => {
        const { theirs } = edited.peek() ?? {};
        if (!theirs) return;
        const { document, conflicts } = theirs;
        const draft = rebased(document, conflicts, choices);
        await save({ draft, ifMatch: etagOf(document) });
      },
    };
  }, [projectId, collectionName, id, rules, edited, inList]);
  return { edited, acts };
};
