import { hash } from 'node:crypto';
import type { IndexDescription, Document as MongoDocument } from 'mongodb';
import { isPlainObject } from '../../core/json.ts';
import { cutText } from '../../core/text.ts';
import { listIndexName } from '../../persistence/mongo-errors.ts';
import { type Collection, type Field, ownerFieldOf, systemFields } from '../collection.ts';
import { schemaError, usersCollection } from '../names.ts';
import { fieldTypes, listTypes } from './field-types.ts';
import { emailVerifiedField } from './users.ts';

/** Fields whose values together may stand in one document only. */
export interface UniqueList {
  /** Top-level fields, the owner field perhaps among them. */
  readonly fields: readonly string[];
  readonly ignoreCase?: true;
  /** Whether a document in the trash keeps its values taken. */
  readonly keepTrashed?: true;
}

/** What unique lists are checked against. */
type Declared = Pick<Collection, 'name' | 'schema' | 'rls'>;

const maxLists = 10;
const maxFields = 4;

/** How a list is named in errors: `userId, coupon`. */
export const listLabel = ({ fields }: UniqueList): string => fields.join(', ');

/** English sorts as the root locale, which MongoDB does not take by name. Strength 2: accents count, case does not. */
const caseless = { locale: 'en', strength: 2 } as const;

/** The collation that decides whether values are the same; `undefined` for the one of MongoDB. */
export const listCollation = ({ ignoreCase }: UniqueList) => (ignoreCase ? caseless : undefined);

const shown = (name: string): string => `"${cutText(name, 80)}"`;

/** Why a list may not name a field; `undefined` if it may. */
const reasonAgainst = ({ name: collection, schema, rls }: Declared, name: string): string | undefined => {
  if (name === ownerFieldOf(rls)) return undefined;
  if (systemFields.has(name)) return `names ${shown(name)}, which is written by the service`;
  const field = schema?.find(({ key }) => key === name);
  if (!field && name.includes('.')) return `names ${shown(name)}, but only fields of the top level may be in it`;
  if (!field) return `names ${shown(name)}, which is no field of the schema`;
  if (!fieldTypes[field.type].unique) {
    return `names ${shown(name)}; only fields of type ${listTypes(({ unique }) => unique, 'or')} may be in it`;
  }
  const isSecret = collection === usersCollection && (name === 'password' || name === emailVerifiedField);
  return isSecret ? `names ${shown(name)}, which may not be unique` : undefined;
};

const members: ReadonlySet<string> = new Set(['fields', 'ignoreCase', 'keepTrashed']);

const parseFlag = (path: string, name: string, value: unknown): value is true => {
  if (value === undefined || value === null || typeof value === 'boolean') return value === true;
  throw schemaError(`${path}.${name}`, 'must be true or false');
};

const parseList = (declared: Declared, value: unknown, path: string): UniqueList => {
  const given = Array.isArray(value) ? { fields: value } : value;
  if (!isPlainObject(given)) throw schemaError(path, 'must be a list of fields, or an object with "fields"');
  const unknown = Object.keys(given).find((key) => !members.has(key));
  if (unknown !== undefined) throw schemaError(path, `has an unknown member, ${cutText(unknown, 80)}`);
  const { fields } = given;
  if (!Array.isArray(fields) || fields.length === 0 || fields.length > maxFields) {
    throw schemaError(path, `must name 1 to ${maxFields} fields`);
  }
  for (const [position, name] of fields.entries()) {
    if (typeof name !== 'string') throw schemaError(path, 'must name fields by text');
    if (fields.indexOf(name) !== position) throw schemaError(path, `names ${shown(name)} twice`);
    const reason = reasonAgainst(declared, name);
    if (reason) throw schemaError(path, reason);
  }
  return {
    fields: fields as string[],
    ...(parseFlag(path, 'ignoreCase', given.ignoreCase) && { ignoreCase: true as const }),
    ...(parseFlag(path, 'keepTrashed', given.keepTrashed) && { keepTrashed: true as const }),
  };
};

/**
 * Reads the option `unique` of a collection: up to 10 lists of 1 to 4 fields; `null` for none. Malformed, or a field
 * that the collection does not have → 400 `INVALID_SCHEMA`.
 */
export const parseUniqueLists = (declared: Declared, value: unknown): readonly UniqueList[] => {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw schemaError('unique', 'must be a list, each entry a list of fields');
  if (value.length > maxLists) throw schemaError('unique', `has more than ${maxLists} entries`);
  const lists = value.map((entry, position) => parseList(declared, entry, `unique.${position}`));
  const seen = new Set<string>();
  for (const [position, list] of lists.entries()) {
    const text = JSON.stringify(list);
    if (seen.has(text)) throw schemaError(`unique.${position}`, 'is there twice');
    seen.add(text);
  }
  return lists;
};

const bsonTypesOf = ({ schema }: Pick<Collection, 'schema'>, name: string): readonly string[] => {
  const field: Field | undefined = schema?.find(({ key }) => key === name);
  // An owner that the schema does not declare is a String; servers may have stored an id.
  return field ? [fieldTypes[field.type].bsonType] : ['string', 'objectId'];
};

/**
 * The documents that a list applies to: those in which a field other than the owner is set. A tombstone keeps nothing
 * taken; `_gone: null` also tells the index from one of a unique field, which MongoDB would take for the same.
 */
export const listFilter = (collection: Pick<Collection, 'schema' | 'rls'>, list: UniqueList): MongoDocument => {
  const others = list.fields.filter((name) => name !== ownerFieldOf(collection.rls));
  const deciding = others.length > 0 ? others : list.fields;
  const isSet = deciding.map((name) => ({ [name]: { $type: bsonTypesOf(collection, name) } }));
  return {
    ...(!list.keepTrashed && { deletedAt: null }),
    _gone: null,
    ...(isSet.length > 1 ? { $or: isSet } : isSet[0]),
  };
};

/** The unique index that holds a list. Its name tells what it was made of, so that another one replaces it. */
export const listIndex = (collection: Pick<Collection, 'schema' | 'rls'>, list: UniqueList): IndexDescription => {
  const partialFilterExpression = listFilter(collection, list);
  const collation = listCollation(list);
  const madeOf = hash('sha256', JSON.stringify([list.fields, partialFilterExpression, collation ?? null]), 'hex');
  return {
    name: listIndexName(madeOf.slice(0, 12), list.fields),
    key: new Map(list.fields.map((name) => [name, 1])),
    unique: true,
    partialFilterExpression,
    ...(collation && { collation }),
  };
};

/** The lists of a collection that it did not have, or whose index changes. */
export const newLists = (now: Collection, before: Collection): readonly UniqueList[] => {
  const had = new Set((before.uniqueLists ?? []).map((list) => listIndex(before, list).name));
  return (now.uniqueLists ?? []).filter((list) => !had.has(listIndex(now, list).name));
};
