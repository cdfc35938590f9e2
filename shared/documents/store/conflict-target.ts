import { isDeepStrictEqual } from 'node:util';
import { type Collection, type Field, ownerFieldOf } from '../../collections/collection.ts';
import { effectFields } from '../../collections/effects/effect.ts';
import { uniqueFilter } from '../../collections/indexes/indexes.ts';
import { fieldsOf, shown } from '../../collections/schema/field-path.ts';
import { listCollation, listFilter, listLabel, type UniqueList } from '../../collections/schema/unique-lists.ts';
import { AppError, type FieldError, validationFailed } from '../../core/errors.ts';
import { type AccessContext, ownerValue } from '../access/access.ts';
import { relationOf, unreadableFor, unusableIn } from '../access/field-rights.ts';
import type { JsonObject } from '../document.ts';
import type { Condition } from '../query/condition.ts';
import { convert } from '../values.ts';

/** The unique field, or the fields that are unique together, by which an upsert finds its document. */
export interface ConflictTarget {
  readonly fields: readonly string[];
  /** The name in errors. */
  readonly label: string;
  /** The documents among which the values are unique. */
  readonly among: Condition;
  readonly collation: ReturnType<typeof listCollation>;
}

const refused = (message: string): AppError =>
  new AppError('INVALID_QUERY', message, { errors: [{ field: 'onConflict', message }] });

const isSameSet = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((name) => others.includes(name));

/** The fields that a unique field is unique with. */
const uniqueWith = ({ key, uniquePer }: Field, { rls }: Collection): readonly string[] =>
  uniquePer ? [key, rls.ownerField] : [key];

const ofList = (collection: Collection, list: UniqueList): ConflictTarget => ({
  fields: list.fields,
  label: listLabel(list),
  among: listFilter(collection, list),
  collation: listCollation(list),
});

const ofField = (collection: Collection, field: Field): ConflictTarget => ({
  fields: uniqueWith(field, collection),
  label: field.key,
  among: uniqueFilter(field),
  collation: undefined,
});

/** All values and lists of values that are unique in a collection. */
export const uniqueTargets = (collection: Collection): readonly ConflictTarget[] => [
  ...(collection.schema ?? []).filter(({ unique }) => unique).map((field) => ofField(collection, field)),
  ...(collection.uniqueLists ?? []).map((list) => ofList(collection, list)),
];

const targetNamed = (collection: Collection, names: readonly string[]): ConflictTarget | undefined => {
  const lists = (collection.uniqueLists ?? []).filter(({ fields }) => isSameSet(fields, names));
  // A list that ignores case is stricter.
  const list = lists.find(({ ignoreCase }) => ignoreCase) ?? lists[0];
  if (list) return ofList(collection, list);
  const field = collection.schema?.find(
    (each) => each.unique && (isSameSet([each.key], names) || isSameSet(uniqueWith(each, collection), names)),
  );
  return field && ofField(collection, field);
};

/**
 * The target that `onConflict` names. Throws 400 `INVALID_QUERY` if it is not unique, is set by an effect, or contains a field that the
 * caller may not read in every document, because the status would reveal its values.
 */
export const conflictTarget = async (context: AccessContext, onConflict: string): Promise<ConflictTarget> => {
  const names = onConflict.split(',');
  const target = targetNamed(context.collection, names);
  if (!target) {
    throw refused(
      `onConflict must name a unique field, or all fields of an entry of "unique"; "${shown(onConflict)}" is neither.`,
    );
  }
  const computed = target.fields.find((name) => effectFields(context.collection).has(name));
  if (computed !== undefined) {
    throw refused(`onConflict: an effect of the collection sets "${shown(computed)}". Name another unique field.`);
  }
  const unreadable = await unreadableFor(context);
  const rights = unreadable ? await unusableIn(context, unreadable) : [];
  const hidden = target.fields.find((name) => rights.some((right) => relationOf(name, right).kind !== 'none'));
  if (hidden === undefined) return target;
  throw refused(`onConflict: you may not read "${shown(hidden)}". Name another unique field.`);
};

const isMissing = (value: unknown): boolean => value === undefined || value === null;

const isRequired = (field: string, why: string): FieldError => ({ field, message: `${field} is required, ${why}` });

/**
 * The stored values of a target in a body; `null` is a missing one. The user of a publishable key is the owner.
 * Throws 400 `VALIDATION_FAILED` without a value, without an owner for the secret key, or for an invalid value.
 */
export const conflictValues = (
  { collection, caller }: AccessContext,
  { fields, label }: ConflictTarget,
  body: JsonObject,
): JsonObject => {
  const owner = ownerFieldOf(collection.rls);
  const errors: FieldError[] = [];
  const declared = fieldsOf(collection);
  const storedValue = (name: string): unknown => {
    if (name === owner && caller.kind !== 'secret') return ownerValue(collection, caller.userId ?? '');
    const field = declared.find(({ key }) => key === name);
    // An insert stores the default, so the next upsert finds the document by it.
    const value = Object.hasOwn(body, name) ? body[name] : field?.default;
    return isMissing(value) ? null : field ? convert(field, value, name, errors) : value;
  };
  const others = fields.filter((name) => name !== owner);
  const deciding = others.length > 0 ? others : fields.filter(() => caller.kind === 'secret');
  if (deciding.length > 0 && deciding.every((name) => isMissing(body[name]))) {
    errors.push(isRequired(deciding[0] ?? label, 'because onConflict names it'));
  } else if (caller.kind === 'secret' && owner !== undefined && fields.includes(owner) && isMissing(body[owner])) {
    errors.push(isRequired(owner, 'because onConflict names the owner, and the secret key has none'));
  }
  const values = Object.fromEntries(fields.map((name) => [name, storedValue(name)]));
  if (errors.length > 0) throw validationFailed(...errors);
  return values;
};

const caseless = new Intl.Collator('en', { sensitivity: 'accent' });

/** Whether the index of a target treats two values as equal. */
const isSameValue = ({ collation }: ConflictTarget, one: unknown, other: unknown): boolean =>
  collation && typeof one === 'string' && typeof other === 'string'
    ? caseless.compare(one, other) === 0
    : isDeepStrictEqual(one ?? null, other ?? null);

/** `having` for a document in memory. */
export const hasValues = (target: ConflictTarget, values: JsonObject, object: JsonObject): boolean =>
  target.fields.every((name) => isSameValue(target, values[name], object[name]));

/** The documents that have the values of a target. */
export const having = ({ among }: Pick<ConflictTarget, 'among'>, values: JsonObject): Condition => ({
  $and: [among, ...Object.entries(values).map(([name, value]) => ({ [name]: { $eq: value } }))],
});
