import { hash } from 'node:crypto';
import type { IndexDescription, Document as MongoDocument } from 'mongodb';
import { isPlainObject } from '../../core/json.ts';
import { cutText } from '../../core/text.ts';
import { listIndexName } from '../../persistence/mongo-errors.ts';
import { type Collection, type Field, ownerFieldOf, systemFields } from '../collection.ts';
import { schemaError, usersCollection } from '../names.ts';
import { fieldTypes, listTypes } from './field-types.ts';
import { emailVerifiedField } from './users.ts';

export interface UniqueList {
  readonly fields: readonly string[];
  readonly ignoreCase?: true;
  /** True if trashed documents keep their values reserved. */
  readonly keepTrashed?: true;
}

type Declared = Pick<Collection, 'name' | 'schema' | 'rls'>;

const maxLists = 10;
const maxFields = 4;

export const listLabel = ({ fields }: UniqueList): string => fields.join(', ');

/** MongoDB does not accept the root locale by name; English sorts the same. Strength 2 ignores case, not accents. */
const caseless = { locale: 'en', strength: 2 } as const;

export const listCollation = ({ ignoreCase }: UniqueList) => (ignoreCase ? caseless : undefined);

const shown = (name: string): string => `"${cutText(name, 80)}"`;

const reasonAgainst = ({ name: collection, schema, rls }: Declared, name: string): string | undefined => {
  if (name === ownerFieldOf(rls)) return undefined;
  if (systemFields.has(name)) return `names ${shown(name)}, which is written by the service`;
  const field = schema?.find(({ key }) => key === name);
  if (!field && name.includes('.')) return `names ${shown(name)}, but only fields of the top level may be in it`;
  if (!field) return `names ${shown(name)}, which is not a field of the schema`;
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

/** Parses the option `unique`: up to 10 lists of 1 to 4 fields. Throws 400 `INVALID_SCHEMA`. */
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
  // An undeclared owner field is a String, but servers may have stored an ObjectId.
  return field ? [fieldTypes[field.type].bsonType] : ['string', 'objectId'];
};

/**
 * Documents that a list applies to: any field except the owner is set. Tombstones are excluded; `_gone: null` also
 * distinguishes the index from that of a unique field.
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

/** The name encodes the list, so that a changed list has another index. */
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

/** Lists that are new, or whose index changes. */
export const newLists = (now: Collection, before: Collection): readonly UniqueList[] => {
  const had = new Set((before.uniqueLists ?? []).map((list) => listIndex(before, list).name));
  return (now.uniqueLists ?? []).filter((list) => !had.has(listIndex(now, list).name));
};
