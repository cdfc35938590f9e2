import { onProject } from '../../clients/mongo.ts';
import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { requireDatabaseRoom } from '../../projects/quota/database-quota.ts';
import type { Document, JsonObject } from '../document.ts';
import { requireWriteAccess } from '../row-security.ts';
import { newDocument } from './new-document.ts';

/**
 * Inserts one document and returns it as stored, in one command. Under row security a publishable key owns what it
 * inserts. 400 `INVALID_BODY`, `VALIDATION_FAILED`; 401; 403 `RLS_REQUIRED`, `NOT_OWNER`, `DATABASE_QUOTA_EXCEEDED`;
 * 409 `DUPLICATE_VALUE`; 413. Contract 2, "Insert".
 */
export const createDocument = async (
  project: Project,
  collection: Collection,
  caller: Caller,
  body: JsonObject,
): Promise<Document> => {
  requireWriteAccess(collection, caller);
  const { document, size } = newDocument(collection, caller, body, clock.now());
  await requireDatabaseRoom(project, size);
  await onProject(project, (db) => db.collection(collection.name).insertOne(document));
  return document;
};
