import { clock } from '../clock.ts';
import type { Collection } from '../collections/collection.ts';
import type { Caller, Project } from '../projects/project.ts';
import { requireDatabaseRoom } from '../quota/database-quota.ts';
import { changeDocument } from './change-document.ts';
import type { Document, JsonObject } from './document.ts';
import { present } from './present.ts';
import { requireWriteAccess } from './row-security.ts';
import { planUpdate } from './update-plan.ts';
import { wireDocumentOf } from './wire-value.ts';

/**
 * Sets the fields of a body, dotted paths included, and returns the whole document, in one command. Besides the refusals of
 * `planUpdate`: missing or trashed → 404; another user's → 403 `NOT_OWNER`; 403 `DATABASE_QUOTA_EXCEEDED`; 409
 * `DUPLICATE_VALUE`. Contract 2, "Update".
 */
export const updateDocument = async (
  project: Project,
  collection: Collection,
  caller: Caller,
  id: string,
  body: JsonObject,
): Promise<Document> => {
  requireWriteAccess(collection, caller);
  const { set, size, conditions, refusal } = planUpdate(collection, body);
  await requireDatabaseRoom(project, size);
  const updated = await changeDocument(project, collection, caller, id, {
    state: 'active',
    conditions,
    refusal,
    write: (documents, filter) =>
      documents.findOneAndUpdate(
        filter,
        { $set: { ...set, updatedAt: new Date(clock.now()) } },
        { returnDocument: 'after' },
      ),
  });
  return present(wireDocumentOf(project, updated));
};
