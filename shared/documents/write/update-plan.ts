import type { Collection } from '../../collections/collection.ts';
import { AppError, type FieldError, validationFailed } from '../../core/errors.ts';
import { fieldsOf } from '../collection-fields.ts';
import type { JsonObject } from '../document.ts';
import { fieldAt } from '../read/field-at.ts';
import { ownedBy } from '../row-security.ts';
import { addedBy, documentTooLarge, mustHaveRoom } from './document-size.ts';
import type { Guard } from './guarded-write.ts';
import { sanitizeUpdate } from './sanitize.ts';
import { convert } from './schema-values.ts';
import { mustNotGrow } from './update-guard.ts';
import { guardsOf, requireFewPaths, requirePath } from './update-path.ts';

/** A validated update, prepared before the database is asked. */
export interface UpdatePlan {
  /** Dotted path → stored value, for `$set`. */
  readonly set: JsonObject;
  /** Bytes of BSON that the document can grow by. */
  readonly size: number;
  /** What the document must be like. */
  readonly guards: readonly Guard[];
}

const ownerImmutable = (): AppError => new AppError('OWNER_IMMUTABLE', 'Owner field immutable');

/**
 * The owner may be sent along unchanged, as clients do that send whole documents back. Who `mayClaim` may also give one
 * to a document that has none; the write decides, so that of several who try at once one does.
 */
const keepsOwner = (ownerField: string, owner: unknown, mayClaim: boolean): Guard => {
  const same = ownedBy(ownerField, owner);
  const claims = mayClaim && typeof owner === 'string';
  return {
    filter: claims ? { $or: [same, ownedBy(ownerField, null)] } : same,
    refusal: (document) => {
      const now = document[ownerField] ?? null;
      if (now === owner || (claims && now === null)) return undefined;
      if (!mayClaim || now !== null) return ownerImmutable();
      return validationFailed({ field: ownerField, message: `${ownerField} must be a String` });
    },
  };
};

/** The owner field of a collection under row security, which no update changes once a document has it. */
const immutableField = ({ rls }: Collection): string | undefined => (rls.enabled ? rls.ownerField : undefined);

const storedValues = (collection: Collection, sent: JsonObject): JsonObject => {
  const owner = immutableField(collection);
  const fields = fieldsOf(collection);
  const errors: FieldError[] = [];
  const entries = Object.entries(sent).map(([path, value]): [string, unknown] => {
    const at = path === owner ? undefined : fieldAt(fields, path);
    return [path, at ? convert(at, value, path, errors) : value];
  });
  if (errors.length > 0) throw validationFailed(...errors);
  return Object.fromEntries(entries);
};

/** The same update, made only where the document does not become larger by it; `refusal` is that of one that would. */
export const withoutGrowth = (plan: UpdatePlan, refusal: AppError): UpdatePlan => ({
  ...plan,
  guards: [...plan.guards, mustNotGrow(plan.set, refusal)],
});

/**
 * Works out an update: what is set and what must hold for it. `mayClaim`: an absent owner may be set. 400
 * `INVALID_BODY`, `NOTHING_TO_UPDATE`, `INVALID_UPDATE` (a path through a scalar, beyond the end of an array, or two
 * that conflict), `VALIDATION_FAILED`; 403 `OWNER_IMMUTABLE`; 413. Contract 2, "Update".
 */
export const planUpdate = (collection: Collection, body: JsonObject, mayClaim = false): UpdatePlan => {
  const sent = sanitizeUpdate(body);
  const paths = Object.keys(sent);
  if (paths.length === 0) {
    throw new AppError('NOTHING_TO_UPDATE', 'There is nothing to update: send at least one field to change.');
  }
  requireFewPaths(paths);
  for (const path of paths) requirePath(path, sent[path]);
  const owner = immutableField(collection);
  if (owner !== undefined && paths.some((path) => path.startsWith(`${owner}.`))) throw ownerImmutable();
  const guards = guardsOf(fieldsOf(collection), paths);
  const set = storedValues(collection, sent);
  const added = addedBy(set);
  const ofOwner = owner !== undefined && Object.hasOwn(set, owner) ? [keepsOwner(owner, set[owner], mayClaim)] : [];
  return { set, size: added.stored, guards: [...ofOwner, ...guards, mustHaveRoom(added, documentTooLarge)] };
};
