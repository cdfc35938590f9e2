import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { databaseFull, hasDatabaseRoom } from '../../projects/quota/database-quota.ts';
import type { Document, JsonObject } from '../document.ts';
import { presentStored } from '../present.ts';
import { requireWriteAccess } from '../row-security.ts';
import { changeDocument } from './change-document.ts';
import { planUpdate, withoutGrowth } from './update-plan.ts';

/**
 * Sets the fields of a body, dotted paths included, and returns the whole document, in one command. Besides the
 * refusals of `planUpdate`: missing or trashed → 404; another user's → 403 `NOT_OWNER`; 403 `DATABASE_QUOTA_EXCEEDED`
 * where the document would grow; 409 `DUPLICATE_VALUE`. A document that may be too large for its answer is read first.
 * Contract 2, "Update".
 */
export const updateDocument = async (
  project: Project,
  collection: Collection,
  caller: Caller,
  id: string,
  body: JsonObject,
): Promise<Document> => {
  requireWriteAccess(collection, caller);
  const plan = planUpdate(collection, body, caller.kind === 'secret');
  const { set, guards } = (await hasDatabaseRoom(project, plan.size))
    ? plan
    : withoutGrowth(plan, databaseFull(project));
  const updated = await changeDocument(project, collection, caller, id, {
    state: 'active',
    guards,
    write: (documents, filter) =>
      documents.findOneAndUpdate(
        filter,
        { $set: { ...set, updatedAt: new Date(clock.now()) } },
        { returnDocument: 'after' },
      ),
  });
  return presentStored(project, updated);
};
