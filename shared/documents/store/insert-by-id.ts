import type { ObjectId } from 'mongodb';
import { clock, dayMs } from '../../core/clock.ts';
import { AppError, isClientError } from '../../core/errors.ts';
import { fitsResponse, jsonOf } from '../../core/json.ts';
import { cutText, etagOf } from '../../core/text.ts';
import { idOf } from '../../core/values.ts';
import { currentTransaction } from '../../persistence/transaction.ts';
import type { AccessContext } from '../access/access.ts';
import type { JsonObject } from '../document.ts';
import { getDocument } from '../query/get-document.ts';
import { type InsertOptions, insertUnder, requireInsertAccess } from './insert.ts';
import type { WrittenDocument } from './written.ts';

/**
 * The id that a client chose for a new document: 24 lower-case hex digits, at most a day ahead. Throws 400
 * otherwise.
 */
export const chosenId = (id: string): ObjectId => {
  const chosen = /^[0-9a-f]{24}$/.test(id) ? idOf(id) : undefined;
  if (!chosen) {
    throw new AppError(
      'INVALID_ID',
      `"${cutText(id, 40)}" cannot be the id of a new document: it must be 24 lower-case hexadecimal characters.`,
    );
  }
  if (chosen.getTimestamp().getTime() <= clock.now() + dayMs) return chosen;
  // Lists show the newest id first, so this one would stay on top.
  throw new AppError(
    'INVALID_ID',
    'The first 8 characters of the id are a time more than a day ahead. Start the id with the current time in seconds.',
  );
};

/** The error of an id that is taken (412): with the document if the caller may get it and it is not in the trash. */
const documentExists = async (context: AccessContext, id: string, cause: AppError): Promise<AppError> => {
  const message =
    'A document with this id exists, or was deleted recently. Change it with PUT or PATCH, or use another id.';
  try {
    const get = () => getDocument(context, id, { includeDeleted: false });
    // The clash has ended a transaction.
    const { document, revision } = await currentTransaction.exit(get);
    if (!fitsResponse(jsonOf(document))) return new AppError('DOCUMENT_EXISTS', message, { cause });
    const etag = revision === undefined ? {} : { etag: etagOf(revision) };
    return new AppError('DOCUMENT_EXISTS', message, { cause, data: document, ...etag });
  } catch (error) {
    if (!isClientError(error)) throw error;
    return new AppError('DOCUMENT_EXISTS', message, { cause });
  }
};

/** Throws the error of an insert whose id or value is taken. */
export const clashById =
  (context: AccessContext, id: string) =>
  async (clash: AppError): Promise<never> => {
    throw clash.errors?.[0]?.field === '_id' ? await documentExists(context, id, clash) : clash;
  };

/**
 * Inserts a document under an id that the caller chose, with the rights and checks of `createDocument`. The unique
 * `_id` decides between concurrent callers. Throws 412 `DOCUMENT_EXISTS` if the id is taken, by a tombstone too; 400
 * `INVALID_ID` if it is malformed. Contract 2, "Ids chosen by the client".
 */
export const insertById = async (
  context: AccessContext,
  id: string,
  body: JsonObject,
  { made }: Pick<InsertOptions, 'made'> = {},
): Promise<WrittenDocument> => {
  await requireInsertAccess(context);
  return insertUnder(context, body, clashById(context, id), { _id: chosenId(id), made });
};
