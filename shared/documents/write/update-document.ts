import { BSON } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { databaseFull, hasDatabaseRoom } from '../../projects/quota/database-quota.ts';
import type { Document, JsonObject } from '../document.ts';
import { presentStored } from '../present.ts';
import type { Revised } from '../revision.ts';
import { requireWriteAccess, type Visit } from '../row-security.ts';
import { mergeFields, setFields } from './change-document.ts';
import { isAtMost } from './document-size.ts';
import { planUpdate, type UpdatePlan, withoutGrowth } from './update-plan.ts';

/** Above so many bytes of BSON the operator `$set` costs MongoDB less than merging, whatever is in the filter. */
const mergedBytes = 16 * 1024;

/** Values as they come back from the database, which makes others of some, such as references. */
const asStored = (fields: JsonObject): Uint8Array => BSON.serialize(BSON.deserialize(BSON.serialize(fields)));

/** Whether a document has these very values. */
const holds = (document: Document, fields: JsonObject): boolean => {
  const held = Object.fromEntries(Object.keys(fields).map((name) => [name, document[name]]));
  return Buffer.compare(BSON.serialize(held), asStored(fields)) === 0;
};

/**
 * The update made by merging, and the document as it is then. `undefined` where the operator `$set` has to do it: for
 * dotted paths, other guards, a document or update that is large, and a database of a project's own, which may compare
 * owners in another way; a changes feed needs it too, since no pipeline writes its position. Neither owner nor state
 * changes by it, so what is returned tells whether they let it happen, and its fields whether its size did.
 */
const merge = async (
  visit: Visit,
  id: string,
  fields: JsonObject,
  { size, guards }: UpdatePlan,
): Promise<Document | undefined> => {
  const names = Object.keys(fields).sort();
  const most = guards.length === 1 ? guards[0]?.most : undefined;
  const isPlain = visit.project.placement.kind === 'managed' && size <= mergedBytes && !visit.collection.feed?.on;
  if (most === undefined || !isPlain || names.some((name) => name.includes('.'))) return undefined;
  // New fields are stored in the order that the operator gives them, which is that of their names.
  const sorted = Object.fromEntries(names.map((name) => [name, fields[name]]));
  const answer = { returnDocument: 'after' } as const;
  const merged = await mergeFields(visit, id, sorted, [isAtMost(most)], answer);
  return holds(merged, fields) ? merged : undefined;
};

/**
 * Sets the fields of a body, dotted paths included, and returns the whole document, in one command. Besides the
 * refusals of `planUpdate`: missing or trashed → 404; another user's → 403 `NOT_OWNER`; 403 `DATABASE_QUOTA_EXCEEDED`
 * where the document would grow; 409 `DUPLICATE_VALUE`; another revision than `ifMatch` → 412. A document that may be too large for its answer is read first.
 * Contract 2, "Update".
 */
export const updateDocument = async (
  project: Project,
  collection: Collection,
  caller: Caller,
  id: string,
  body: JsonObject,
  ifMatch?: number,
): Promise<Revised> => {
  requireWriteAccess(collection, caller);
  const planned = planUpdate(collection, body, caller.kind === 'secret');
  const hasRoom = await hasDatabaseRoom(project, planned.size);
  const plan = hasRoom ? planned : withoutGrowth(planned, databaseFull(project));
  const fields = { ...plan.set, updatedAt: new Date(clock.now()) };
  const visit = { project, collection, caller };
  const merged = ifMatch === undefined ? await merge(visit, id, fields, plan) : undefined;
  const when = { state: 'active', guards: plan.guards, ifMatch, fields } as const;
  return presentStored(project, merged ?? (await setFields(visit, id, when)));
};
