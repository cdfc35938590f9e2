import { hash } from 'node:crypto';
import { countEffectWrites, type EffectEvent } from '../../collections/effects/effect.ts';
import { mapConcurrent } from '../../core/concurrency.ts';
import { AppError, statusOf } from '../../core/errors.ts';
import { type AccessContext, obeysRules, requireWriteAccess, tokenMissing } from '../access/access.ts';
import { type DocumentWrite, decideWrite } from '../access/writing.ts';
import type { JsonObject } from '../document.ts';
import { decodeCursor, encodeCursor, invalidCursor } from '../query/cursor.ts';
import { invalidFilter } from '../query/filter.ts';
import { findMatching } from '../query/list-documents.ts';
import { maxJointWrites } from './joint-scope.ts';
import { appliedBy } from './operations.ts';
import { planUpdate } from './plan-update.ts';
import { deleteDocument, updateDocument } from './write-documents.ts';

/** Which documents to write, and where the previous call ended. */
export interface ManyQuery {
  readonly where: JsonObject;
  readonly cursor?: string | undefined;
}

/** `data` of the response to a write of many documents. */
export interface ManyResult {
  /** Documents that were examined. */
  readonly matched: number;
  /** Documents that were written. */
  readonly changed: number;
  /** True if documents are left; the next call carries the cursor. */
  readonly more: boolean;
  readonly cursor: string | null;
  readonly errors: readonly { readonly id: string; readonly code: string; readonly message: string }[];
}

/** No write begins later, so that the response comes within 20 s. */
const limitMs = 14_000;

/** A process has five connections to the database that projects share. */
const concurrency = 2;

/** Documents between two checks of the time. A cursor points to the end of such a step. */
const stepSize = 20;

interface Operation {
  /** Part of what a cursor belongs to, in addition to condition and caller. */
  readonly name: string;
  readonly event: EffectEvent;
  readonly write: (id: string, where: JsonObject) => Promise<unknown>;
}

const requireAccess = async (context: AccessContext, kind: DocumentWrite): Promise<void> => {
  if (!obeysRules(context)) requireWriteAccess(context);
  // A stranger writes one document per request.
  else if (context.caller.kind === 'publishable' && context.caller.userId === undefined) throw tokenMissing();
  else await decideWrite(context, kind, appliedBy({}));
};

const positionOf = (fingerprint: string, cursor: string | undefined): readonly unknown[] | undefined => {
  if (cursor === undefined) return undefined;
  const position = decodeCursor(fingerprint, 1, cursor);
  if (!('values' in position)) throw invalidCursor();
  return position.values;
};

/** True for a failure that would affect the next documents too. */
const endsCall = (error: AppError): boolean => statusOf[error.code] >= 500 && error.code !== 'TOO_MANY_WRITERS';

/**
 * Writes each matching document as a single request would, oldest first: its condition, rights, schema and uniqueness
 * are decided with its own write. Ends after 1000 documents or 14 s. A database that fails ends the call with what was
 * done, or with its error if that is nothing.
 */
const writeMany = async (
  context: AccessContext,
  { where, cursor }: ManyQuery,
  { name, event, write }: Operation,
): Promise<ManyResult> => {
  if (Object.keys(where).length === 0) {
    throw invalidFilter('where', 'it is empty. Name the documents, for example {"_id":{"$exists":true}} for all.');
  }
  const begin = performance.now();
  const { project, collection, caller } = context;
  const view = [project.id, collection.name, name, where, caller.kind, caller.userId];
  const fingerprint = hash('sha256', JSON.stringify(view), 'base64url');
  // The writes of effects count too.
  const most = Math.floor(maxJointWrites / (1 + countEffectWrites(collection, event)));
  const page = await findMatching(context, where, most, positionOf(fingerprint, cursor));
  const errors: { id: string; code: string; message: string }[] = [];
  let [matched, changed] = [0, 0];
  let failure: AppError | undefined;
  for (; matched < page.rows.length && !failure && performance.now() - begin < limitMs; matched += stepSize) {
    await mapConcurrent(page.rows.slice(matched, matched + stepSize), concurrency, async ({ document }) => {
      const id = String(document._id);
      try {
        await write(id, where);
        changed += 1;
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        if (endsCall(error)) failure = error;
        errors.push({ id, code: error.code, message: error.message });
      }
    });
  }
  if (failure && changed === 0) throw failure;
  matched = Math.min(matched, page.rows.length);
  const more = matched < page.rows.length || page.more || page.cut;
  const last = page.rows[matched - 1];
  return { matched, changed, more, cursor: more && last ? encodeCursor(fingerprint, last.position) : null, errors };
};

/**
 * Applies changes to every matching document that the caller may list. Malformed changes throw the 400 of an update
 * before any document is looked up. Contract 2, "Writes of many documents".
 */
export const updateDocuments = async (
  context: AccessContext,
  query: ManyQuery,
  changes: JsonObject,
): Promise<ManyResult> => {
  await requireAccess(context, 'update');
  planUpdate(context.collection, changes, context.caller.kind === 'secret');
  const write = (id: string, where: JsonObject) => updateDocument(context, id, changes, { where });
  return writeMany(context, query, { name: 'update', event: 'update', write });
};

/** Moves every matching document to the trash, or deletes it permanently. Contract 2, "Writes of many documents". */
export const deleteDocuments = async (
  context: AccessContext,
  query: ManyQuery,
  permanent: boolean,
): Promise<ManyResult> => {
  const kind = permanent ? 'purge' : 'delete';
  await requireAccess(context, kind);
  return writeMany(context, query, {
    name: kind,
    event: 'delete',
    write: (id, where) => deleteDocument(context, id, permanent, { where }),
  });
};
