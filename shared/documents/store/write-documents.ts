/*
 * What requests write to documents: each write with those of the collection's effects, all or none. `upsert.ts` and
 * `batch.ts` run effects themselves. The functions called here run no effects.
 */
import type { AccessContext } from '../access/access.ts';
import type { JsonObject } from '../document.ts';
import { withEffects } from './effect-writes.ts';
import { insertMany, insertOne, insertWithId } from './insert.ts';
import type { Preconditions } from './preconditions.ts';
import { deleteOne, restoreOne } from './trash.ts';
import { updateOne } from './update.ts';

/** `insertOne` with effects. */
export const createDocument = (context: AccessContext, body: JsonObject) =>
  withEffects(context, ['create'], () => insertOne(context, body));

/** `insertWithId` with effects. */
export const createDocumentWithId = (context: AccessContext, id: string, body: JsonObject) =>
  withEffects(context, ['create'], () => insertWithId(context, id, body));

/** `insertMany` with effects. */
export const createDocuments = (context: AccessContext, bodies: readonly JsonObject[]) =>
  withEffects(context, ['create'], () => insertMany(context, bodies));

/** `updateOne` with effects. */
export const updateDocument = (context: AccessContext, id: string, body: JsonObject, asked: Preconditions = {}) =>
  withEffects(context, ['update'], () => updateOne(context, id, body, asked));

/** `deleteOne` with effects. */
export const deleteDocument = (context: AccessContext, id: string, permanent: boolean, asked: Preconditions = {}) =>
  withEffects(context, ['delete'], () => deleteOne(context, id, permanent, asked));

/** `restoreOne` with effects, which are those of an insert. */
export const restoreDocument = (context: AccessContext, id: string, asked: Preconditions = {}) =>
  withEffects(context, ['create'], () => restoreOne(context, id, asked));
