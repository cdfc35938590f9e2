import { MongoBulkWriteError, MongoServerError, type WriteError } from 'mongodb';
import { AppError, type ErrorCode } from '../core/errors.ts';

/** 503: the database does not respond. */
export const unavailable = (cause: unknown): AppError =>
  new AppError('DATABASE_UNAVAILABLE', 'The database is unavailable. Retry.', {
    cause,
    retryAfter: 5,
  });

/** 503: the customer's database does not respond. */
export const customerDatabaseUnavailable = (cause: unknown): AppError =>
  new AppError(
    'OWN_DATABASE_UNAVAILABLE',
    "The project's own database cannot be reached, or rejects the connection. Ask its operator for the cause, and retry.",
    { cause },
  );

/** True if a database, ours or a customer's, does not respond. */
export const isUnavailable = (error: unknown): error is AppError =>
  error instanceof AppError && (error.code === 'DATABASE_UNAVAILABLE' || error.code === 'OWN_DATABASE_UNAVAILABLE');

const unfitForIndex =
  'A value does not fit an index of the collection. A 2dsphere index takes GeoJSON, such as {"type":"Point","coordinates":[longitude,latitude]}; a hashed index takes no arrays.';
const needsMemory =
  'The query needs too much memory. Narrow it, or add an index that serves its sort: GET /api/projects/:projectId/usage/missing-indexes of the dashboard API names it.';
const tooSlow =
  'The query took longer than 5 seconds. Narrow it, or add an index for its filters and sort: GET /api/projects/:projectId/usage/missing-indexes of the dashboard API names it.';

/** 400: the read takes too long. */
export const queryTooSlow = (cause: unknown): AppError => new AppError('QUERY_TIMEOUT', tooSlow, { cause });

/** Errors that the caller's input causes, by MongoDB error code (contract 2, "Update" and "Aggregation"). */
const refusals: ReadonlyMap<unknown, readonly [ErrorCode, string]> = new Map([
  [2, ['INVALID_QUERY', 'The request contains a value or pattern that the database cannot use.']],
  [15, ['INVALID_UPDATE', 'The document would be nested too deeply.']],
  [28, ['INVALID_UPDATE', 'A path of the update runs through a value that is not an object.']],
  [34, ['INVALID_UPDATE', 'A path of the update cannot be used.']],
  [40, ['INVALID_UPDATE', 'Two paths of the update conflict with each other.']],
  [50, ['QUERY_TIMEOUT', tooSlow]],
  [52, ['INVALID_UPDATE', 'A field name of the document starts with $, which is not allowed there.']],
  [56, ['INVALID_UPDATE', 'A field name is empty.']],
  [57, ['INVALID_UPDATE', 'A field name contains a dot, which is not allowed there.']],
  [66, ['INVALID_UPDATE', 'The update would change a field that cannot be changed.']],
  [146, ['INVALID_QUERY', needsMemory]],
  [171, ['INVALID_UPDATE', 'One index covers two of the fields, so they cannot both contain an array.']],
  [292, ['INVALID_QUERY', needsMemory]],
  [510, ['INVALID_UPDATE', unfitForIndex]],
  [10334, ['DOCUMENT_TOO_LARGE', 'The document is too large.']],
  [
    16746,
    [
      'INVALID_QUERY',
      'A number in a path of the sort or of an index could mean a position or a field name. Use another path.',
    ],
  ],
  [16755, ['INVALID_UPDATE', unfitForIndex]],
  [16766, ['INVALID_UPDATE', unfitForIndex]],
  [17261, ['INVALID_UPDATE', unfitForIndex]],
  [17262, ['INVALID_UPDATE', unfitForIndex]],
  [17280, ['INVALID_UPDATE', 'A value is too large for an index.']],
  [17419, ['DOCUMENT_TOO_LARGE', 'The document would become too large.']],
  [31249, ['INVALID_QUERY', 'Two of the requested fields conflict with each other.']],
  [31250, ['INVALID_QUERY', 'Two of the requested fields conflict with each other.']],
  [51091, ['INVALID_REGEX', 'The regular expression is not valid.']],
  [10396001, ['INVALID_UPDATE', 'A path of the update cannot be used.']],
]);

/** The first field in a duplicate key's message; matched against the document, because names may contain `: `. */
const fieldInText = ({ errmsg = '', err }: WriteError, document: unknown = err.op): string | undefined => {
  const [, named = ''] = errmsg.split('dup key: { ', 2);
  return Object.keys(Object(document))
    .filter((field) => named.startsWith(`${field}: `))
    .sort((a, b) => b.length - a.length)[0];
};

const listPrefix = 'basalt_list_';

/** The name of an index of a unique list. MongoDB's error contains only this name. */
export const listIndexName = (madeOf: string, fields: readonly string[]): string =>
  `${listPrefix}${madeOf}_${fields.map(encodeURIComponent).join(',')}`;

/** The fields of a violated unique list: `userId, coupon`; `undefined` for other indexes. */
const listInText = (text: string): string | undefined => {
  const [, fields] = / collection: \S+ index: basalt_list_[0-9a-f]{12}_(\S+) /.exec(text) ?? [];
  try {
    return fields?.split(',').map(decodeURIComponent).join(', ');
  } catch {
    return undefined;
  }
};

/** The messages for a value, or a list of values, that another document has. */
const takenTexts = (field: string) =>
  field.includes(', ')
    ? {
        message: `Another document has the same values of ${field}; together they must be unique.`,
        short: `${field} already exist together`,
      }
    : { message: `${field} already exists; its value must be unique.`, short: `${field} already exists` };

/** 409 for a value, or a list of values, that another document has. */
export const takenValue = (field: string): AppError => {
  const { message, short } = takenTexts(field);
  return new AppError('DUPLICATE_VALUE', message, { errors: [{ field, message: short }] });
};

/** 409 for a duplicate key (11000), with the field and, for several documents, the document's index. */
const duplicateValue = (error: MongoServerError): AppError => {
  const failed = error instanceof MongoBulkWriteError ? [error.writeErrors].flat()[0] : undefined;
  const list = listInText(failed?.errmsg ?? error.message);
  const field = list ?? (failed && fieldInText(failed)) ?? Object.keys(Object(error.keyPattern))[0] ?? 'value';
  const { message, short } = takenTexts(field);
  return new AppError('DUPLICATE_VALUE', `${failed ? `Item ${failed.index}: ` : ''}${message}`, {
    cause: error,
    errors: [{ ...(failed && { index: failed.index }), field, message: short }],
  });
};

export const hasCode = (error: unknown, ...codes: readonly unknown[]): error is MongoServerError =>
  error instanceof MongoServerError && codes.includes(error.code);

/** Temporary failures, and those that only the database's operator can fix. */
const outages = new Set<unknown>([
  6, 7, 13, 18, 43, 64, 89, 91, 112, 175, 189, 202, 237, 262, 391, 8000, 9001, 10107, 11600, 11601, 11602, 13435, 13436,
  14031,
]);

/** True if the database is at fault, so that the same request may succeed later. */
export const isOutage = (error: MongoServerError): boolean =>
  outages.has(error.code) ||
  (error instanceof MongoBulkWriteError && error.code === undefined) ||
  error.hasErrorLabel('RetryableWriteError') ||
  error.hasErrorLabel('TransientTransactionError');

/**
 * Translates an error of the driver: the caller's mistakes become 400, 409 or 413, an outage 503. Other errors are ours
 * and stay unchanged. The driver's error is the `cause`, for the log.
 */
export const mongoFailure = (error: unknown): Error => {
  if (error instanceof AppError) return error;
  if (!(error instanceof MongoServerError)) return unavailable(error);
  if (error.code === 11000) return duplicateValue(error);
  const refusal = refusals.get(error.code);
  if (refusal) return new AppError(...refusal, { cause: error });
  return isOutage(error) ? unavailable(error) : error;
};

/** Translates the error of one write of an unordered command. `document`: the document of an insert. */
export const writeFailure = (failed: WriteError, document?: unknown): Error => {
  if (failed.code !== 11000) return mongoFailure(new MongoServerError({ message: '', code: failed.code }));
  const list = listInText(failed.errmsg ?? '');
  return takenValue(list ?? fieldInText(failed, document) ?? 'value');
};
