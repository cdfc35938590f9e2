import { ObjectId } from 'mongodb';
import type { Collection, ValueType } from '../../collections/collection.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { fieldAt, fieldsOf } from '../../collections/schema/field-path.ts';
import { checksReferences } from '../../collections/schema/references.ts';
import { type FieldError, maxErrors, validationFailed } from '../../core/errors.ts';
import type { AccessContext } from '../access/access.ts';
import type { JsonObject } from '../document.ts';
import { findReadableIds } from '../query/populate-targets.ts';
import { isJsonObject } from '../values.ts';

/** A reference that must lead to a document. */
interface Reference {
  readonly index: number;
  readonly path: string;
  readonly id: string;
  readonly target: string;
}

const referencesIn = (at: ValueType, value: unknown, path: string, index: number): readonly Reference[] => {
  if (at.type === 'Ref') {
    if (!at.exists || at.ref === undefined || !(value instanceof ObjectId)) return [];
    return [{ index, path, id: value.toHexString(), target: at.ref }];
  }
  if (at.items && Array.isArray(value)) {
    const { items } = at;
    return value.flatMap((item, position) => referencesIn(items, item, `${path}.${position}`, index));
  }
  if (!at.fields || !isJsonObject(value)) return [];
  return at.fields.flatMap((field) => referencesIn(field, value[field.key], `${path}.${field.key}`, index));
};

const referencesOf = (collection: Collection, document: JsonObject, index: number): readonly Reference[] =>
  Object.entries(document).flatMap(([path, value]) => {
    const at = fieldAt(fieldsOf(collection), path);
    return at ? referencesIn(at, value, path, index) : [];
  });

/** Whether an update sets references that must exist. */
export const setsReferences = (collection: Collection, set: JsonObject): boolean =>
  checksReferences(collection) && referencesOf(collection, set, 0).length > 0;

/** The ids of each target that are active documents the caller may read; one query per target. */
const readableIds = async (
  { project, caller }: Pick<AccessContext, 'project' | 'caller'>,
  references: readonly Reference[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  const wanted = Map.groupBy(references, ({ target }) => target);
  const collections = await findCollections(project, [...wanted.keys()]);
  const found = await Promise.all(
    [...collections.values()].map(async (collection) => {
      const ids = [...new Set(wanted.get(collection.name)?.map(({ id }) => id))];
      return [collection.name, await findReadableIds({ project, caller, collection }, ids)] as const;
    }),
  );
  return new Map(found);
};

/**
 * The errors of references that must exist, in stored documents whose keys may be dotted paths. Such a reference
 * must lead to an active document that the caller may read. `known` are documents of the same collection that the
 * same command stores. Costs nothing if no field requires it.
 */
export const missingReferences = async (
  context: AccessContext,
  documents: readonly JsonObject[],
  known: ReadonlySet<string> = new Set(),
): Promise<readonly (FieldError & { readonly index: number })[]> => {
  const { collection } = context;
  if (!checksReferences(collection)) return [];
  const references = documents
    .flatMap((document, index) => referencesOf(collection, document, index))
    .filter(({ target, id }) => target !== collection.name || !known.has(id));
  if (references.length === 0) return [];
  const readable = await readableIds(context, references);
  return references
    .filter(({ target, id }) => !readable.get(target)?.has(id))
    .slice(0, maxErrors)
    .map(({ index, path: field, target }) => ({
      index,
      field,
      message: `${field} must be the id of a document of "${target}" that exists and that you may read`,
    }));
};

/** Throws 400 `VALIDATION_FAILED` if a document, or an update, has a reference that leads nowhere. */
export const requireReferences = async (context: AccessContext, document: JsonObject): Promise<void> => {
  const missing = await missingReferences(context, [document]);
  if (missing.length > 0) throw validationFailed(...missing.map(({ field, message }) => ({ field, message })));
};

/** The same for the documents of a list, with their index. */
export const requireEachReference = async (context: AccessContext, documents: readonly JsonObject[]): Promise<void> => {
  const [first, ...others] = await missingReferences(context, documents);
  if (!first) return;
  throw validationFailed({ ...first, message: `${first.message} (item ${first.index})` }, ...others);
};
