import type { Filter, Document as MongoDocument } from 'mongodb';
import type { Collection } from '../collections/collection.ts';
import { AppError, type FieldError } from '../errors.ts';
import { fieldsOf } from './collection-fields.ts';
import type { Document, JsonObject } from './document.ts';
import { documentTooLarge, hasRoomFor, lacksRoomFor, maxDocumentBytes, sizeOf } from './document-size.ts';
import { fieldAt } from './field-at.ts';
import { sanitizeUpdate } from './sanitize.ts';
import { convert, validationFailed } from './schema-values.ts';
import type { UpdateGuard } from './update-guard.ts';
import { guardsOf, requireFewPaths, requirePath } from './update-path.ts';

/** An update worked out before the database is asked. */
export interface UpdatePlan {
  /** Dotted path → stored value, for `$set`. */
  readonly set: JsonObject;
  /** Bytes of BSON that the document can grow by. */
  readonly size: number;
  readonly conditions: readonly Filter<MongoDocument>[];
  /** Which of the conditions a document fails; `undefined` where it fails none. */
  readonly refusal: (document: Document) => AppError | undefined;
}

const ownerImmutable = (): AppError => new AppError('OWNER_IMMUTABLE', 'Owner field immutable');

/** The owner may be sent along unchanged, as clients do that send whole documents back. */
const sameOwner = (ownerField: string, owner: unknown): UpdateGuard => ({
  filter: { [ownerField]: { $eq: owner, $not: { $type: 'array' } } },
  refusal: (document) => ((document[ownerField] ?? null) === owner ? undefined : ownerImmutable()),
});

const roomFor = (bytes: number): UpdateGuard => ({
  filter: hasRoomFor(bytes),
  refusal: (document) => (lacksRoomFor(document, bytes) ? documentTooLarge() : undefined),
});

/** The owner field of a collection under row security, which no update changes. */
const immutableField = ({ rls }: Collection): string | undefined => (rls.enabled ? rls.ownerField : undefined);

const storedValues = (collection: Collection, sent: JsonObject): JsonObject => {
  const owner = immutableField(collection);
  const fields = fieldsOf(collection);
  const errors: FieldError[] = [];
  const entries = Object.entries(sent).map(([path, value]): [string, unknown] => {
    const at = path === owner ? undefined : fieldAt(fields, path);
    return [path, at ? convert(at, value, path, errors) : value];
  });
  if (errors.length > 0) throw validationFailed(errors);
  return Object.fromEntries(entries);
};

/**
 * Works out an update: what is set and what must hold for it. 400 `INVALID_BODY`, `NOTHING_TO_UPDATE`, `INVALID_UPDATE`
 * (a path through a scalar, beyond the end of an array, or two that conflict), `VALIDATION_FAILED`; 403 `OWNER_IMMUTABLE`; 413.
 * Contract 2, "Update".
 */
export const planUpdate = (collection: Collection, body: JsonObject): UpdatePlan => {
  const sent = sanitizeUpdate(body);
  const paths = Object.keys(sent);
  if (paths.length === 0) {
    throw new AppError('NOTHING_TO_UPDATE', 'There is nothing to update: send at least one field to change.');
  }
  requireFewPaths(paths);
  for (const path of paths) requirePath(path, sent[path]);
  const owner = immutableField(collection);
  if (owner !== undefined && paths.some((path) => path.startsWith(`${owner}.`))) throw ownerImmutable();
  const guards = [...guardsOf(fieldsOf(collection), paths)];
  const set = storedValues(collection, sent);
  const size = sizeOf(set);
  if (size > maxDocumentBytes) throw documentTooLarge();
  if (owner !== undefined && Object.hasOwn(set, owner)) guards.unshift(sameOwner(owner, set[owner]));
  guards.push(roomFor(size));
  return {
    set,
    size,
    conditions: guards.map(({ filter }) => filter),
    refusal: (document) => {
      for (const guard of guards) {
        const refusal = guard.refusal(document);
        if (refusal) return refusal;
      }
      return undefined;
    },
  };
};
