import { hash } from 'node:crypto';
import type { IndexDescription } from 'mongodb';
import {
  type Collection,
  type Field,
  isPrivate,
  noRowSecurity,
  ownerFieldOf,
  type RowSecurity,
} from '../collection.ts';
import { schemaError, usersCollection } from '../names.ts';
import { fieldTypes, type SearchLanguage, searchableFields } from '../schema/field-types.ts';
import { referenceIndexes } from '../schema/references.ts';
import { listIndex } from '../schema/unique-lists.ts';

/** Every index of the service's own begins so, and none of a developer's may. */
export const managedPrefix = 'basalt_';

/** Of the index that searches go by. */
export const searchPrefix = `${managedPrefix}search_`;

/** With MongoDB's own default a field `language` of a document would change how its texts are read. */
export const noLanguageField = 'basaltTextLanguage';

/** Of the 64 that MongoDB takes: 20 own ones, `_id`, the trash, the owner or users; the rest is for fields. */
const roomForFields = 40;

/**
 * The documents among which a unique field is unique. `deletedAt: null` holds for documents without system fields too,
 * which `isDeleted: false` would leave out; a trashed document always has its date and so frees its value. `null` and
 * missing values are of no field's type, so they never collide.
 */
export const uniqueFilter = ({ key, type }: Field): { readonly [key: string]: unknown } => ({
  deletedAt: null,
  [key]: { $type: fieldTypes[type].bsonType },
});

/** The field comes first, as an error of the database names the first. */
const uniqueIndex = (field: Field, { ownerField }: RowSecurity): IndexDescription => ({
  name: `${managedPrefix}unique_${field.uniquePer ? `of_${ownerField}_` : ''}${field.type}_${field.key}`,
  key: { [field.key]: 1, ...(field.uniquePer && { [ownerField]: 1 }) },
  unique: true,
  partialFilterExpression: uniqueFilter(field),
});

/**
 * Serves filters on a field in the default order; a partial unique index serves none. In a private collection it begins
 * with the owner, as lists of one owner's documents do; not that of a unique field, by which servers find any owner's.
 */
const readIndex = (key: string, rls: RowSecurity): IndexDescription =>
  isPrivate(rls) && key !== rls.ownerField
    ? { name: `${managedPrefix}owner_${key}`, key: { [rls.ownerField]: 1, [key]: 1, _id: 1 } }
    : { name: `${managedPrefix}read_${key}`, key: { [key]: 1, _id: 1 } };

const trashIndex: IndexDescription = {
  name: `${managedPrefix}trash`,
  key: { deletedAt: 1 },
  partialFilterExpression: { isDeleted: true },
};

/** The name of each tells what it was made of, so that another replaces it. */
const searchIndexes = (fields: readonly Field[], language: SearchLanguage): readonly IndexDescription[] => {
  const keys = searchableFields({ schema: fields }).map(({ key }) => key);
  if (keys.length === 0) return [];
  const madeOf = hash('sha256', JSON.stringify([language, [...keys].sort()]), 'hex');
  return [
    {
      name: `${searchPrefix}${madeOf.slice(0, 12)}`,
      key: Object.fromEntries(keys.map((key) => [key, 'text' as const])),
      default_language: language,
      language_override: noLanguageField,
    },
  ];
};

/**
 * In what order documents were changed. In a private collection each owner's as well, so that what others change
 * neither costs nor tells anything.
 */
const feedIndexes = (rls: RowSecurity): readonly IndexDescription[] =>
  [
    { name: `${managedPrefix}changes`, key: feedKeys() },
    ...(isPrivate(rls)
      ? [{ name: `${managedPrefix}changes_of_${rls.ownerField}`, key: feedKeys(rls.ownerField) }]
      : []),
  ].map((index) => ({ ...index, partialFilterExpression: { _pos: { $exists: true } } }));

/** The keys of the index that serves the changes of everybody's documents, or of one owner's. */
export const feedKeys = (ownerField?: string): Readonly<Record<string, 1>> =>
  ownerField === undefined ? { _pos: 1 } : { [ownerField]: 1, _pos: 1 };

const oneUserEach = (key: string): IndexDescription => ({
  name: `${managedPrefix}${key}`,
  key: { [key]: 1 },
  unique: true,
  partialFilterExpression: { [key]: { $exists: true } },
});

/** One account a passkey. */
export const passkeyIndex: IndexDescription = oneUserEach('_signIn.passkeys.id');

/** One account an identity of a provider, and one a place of the plan, whoever signs up at once. */
const userIndexes: readonly IndexDescription[] = [...['identities.key', 'planSlot'].map(oneUserEach), passkeyIndex];

/** Finds anonymous users whose sessions have ended. */
export const anonymousIndex: IndexDescription = {
  name: `${managedPrefix}anonymous`,
  key: { '_signIn.anonymous.checkAt': 1 },
  partialFilterExpression: { '_signIn.anonymous.checkAt': { $exists: true } },
};

/** Public profiles are looked up by it. */
const username = 'username';

/** Those of a project's own database: trash, unique fields, and what lists are filtered by. */
export const managedIndexes = ({
  name,
  schema,
  rls,
  searchLanguage = 'none',
  feed,
  ruleIndexes = [],
  uniqueLists = [],
}: Omit<Collection, 'ownIndexes'>): readonly IndexDescription[] => {
  const isUsers = name === usersCollection;
  const fields = schema ?? [];
  const read = new Set(
    fields
      .filter(({ key, unique, type }) => unique || fieldTypes[type].indexed || (isUsers && key === username))
      .map(({ key }) => key),
  );
  const unique = new Set(fields.flatMap((field) => (field.unique && !field.uniquePer ? [field.key] : [])));
  const ownerField = ownerFieldOf(rls);
  if (ownerField !== undefined) read.add(ownerField);
  for (const path of ruleIndexes) read.add(path);
  return [
    trashIndex,
    ...(feed?.on ? feedIndexes(rls) : []),
    ...fields.filter(({ unique }) => unique).map((field) => uniqueIndex(field, rls)),
    ...referenceIndexes({ schema }),
    ...uniqueLists.map((list) => listIndex({ schema, rls }, list)),
    ...[...read].map((key) => readIndex(key, unique.has(key) ? noRowSecurity : rls)),
    ...searchIndexes(fields, searchLanguage),
    ...(isUsers ? [...userIndexes, anonymousIndex] : []),
  ];
};

/** Those by which lists find what they filter and sort by. */
export const orderedIndexes = (collection: Collection): readonly IndexDescription[] =>
  managedIndexes(collection).filter(
    ({ name, partialFilterExpression }) => !partialFilterExpression && !name?.startsWith(searchPrefix),
  );

/** What a changes feed takes of them. */
const roomForFeed = 2;

/** Refuses a schema whose indexes a collection would have no room for: 400 `INVALID_SCHEMA`. */
export const requireIndexRoom = (fields: readonly Field[], hasFeed = false, others = 0): void => {
  const room = hasFeed ? roomForFields - roomForFeed : roomForFields;
  const needed = fields.reduce(
    (sum, { unique, type }) => sum + (unique ? 2 : fieldTypes[type].indexed ? 1 : 0),
    others,
  );
  if (needed > room) {
    throw schemaError(
      'schema',
      `needs too many indexes: a unique field counts 2, a Ref 1, an entry of unique or an onDelete 1, and all together may not be over ${room}`,
    );
  }
};
