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
import { dueFields, pendingMailsAt, seenField, sendsMail } from '../effects/effect.ts';
import { schemaError, usersCollection } from '../names.ts';
import { fieldTypes, type SearchLanguage, searchableFields } from '../schema/field-types.ts';
import { referenceIndexes } from '../schema/references.ts';
import { listIndex } from '../schema/unique-lists.ts';

export const managedPrefix = 'basalt_';

export const searchPrefix = `${managedPrefix}search_`;

/** With MongoDB's default, a document's field `language` would change how its text is indexed. */
export const noLanguageField = 'basaltTextLanguage';

/** MongoDB allows 64: 20 of the developer, `_id`, trash, owner or users; the rest is for fields. */
const roomForFields = 40;

/**
 * The documents among which a field is unique. `deletedAt: null` also matches documents without system fields. Trashed
 * documents have a date, so they do not block values. `null` and missing values have no field type, so they never
 * collide.
 */
export const uniqueFilter = ({ key, type }: Field): { readonly [key: string]: unknown } => ({
  deletedAt: null,
  [key]: { $type: fieldTypes[type].bsonType },
});

/** The field comes first, because MongoDB's error names the first one. */
const uniqueIndex = (field: Field, { ownerField }: RowSecurity): IndexDescription => ({
  name: `${managedPrefix}unique_${field.uniquePer ? `of_${ownerField}_` : ''}${field.type}_${field.key}`,
  key: { [field.key]: 1, ...(field.uniquePer && { [ownerField]: 1 }) },
  unique: true,
  partialFilterExpression: uniqueFilter(field),
});

/**
 * For filters on a field in the default order; MongoDB cannot use a partial unique index for them. In a private
 * collection it begins with the owner, except for unique fields, which servers look up across owners.
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

/** The names encode the fields, so that a changed index has another name. */
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
 * In private collections there is one order per owner, so that other owners' changes cost nothing and reveal nothing.
 */
const feedIndexes = (rls: RowSecurity, partition: string | undefined): readonly IndexDescription[] =>
  [
    { name: `${managedPrefix}changes`, key: feedKeys() },
    ...(isPrivate(rls)
      ? [{ name: `${managedPrefix}changes_of_${rls.ownerField}`, key: feedKeys(rls.ownerField) }]
      : partition === undefined
        ? []
        : [{ name: `${managedPrefix}changes_in_${partition}`, key: feedKeys(partition) }]),
  ].map((index) => ({ ...index, partialFilterExpression: { _pos: { $exists: true } } }));

/** The keys of the feed's index for all changes, or for those of one value of a field. */
export const feedKeys = (field?: string): Readonly<Record<string, 1>> =>
  field === undefined ? { _pos: 1 } : { [field]: 1, _pos: 1 };

const oneUserEach = (key: string): IndexDescription => ({
  name: `${managedPrefix}${key}`,
  key: { [key]: 1 },
  unique: true,
  partialFilterExpression: { [key]: { $exists: true } },
});

export const passkeyIndex: IndexDescription = oneUserEach('_signIn.passkeys.id');

/** Also guarantee one account per identity and per slot of the plan under concurrency. */
const userIndexes: readonly IndexDescription[] = [...['identities.key', 'planSlot'].map(oneUserEach), passkeyIndex];

export const anonymousIndex: IndexDescription = {
  name: `${managedPrefix}anonymous`,
  key: { '_signIn.anonymous.checkAt': 1 },
  partialFilterExpression: { '_signIn.anonymous.checkAt': { $exists: true } },
};

/** Find the documents with emails that are not queued yet, and those whose date is due. */
const effectIndexes = (collection: Pick<Collection, 'effects'>): readonly IndexDescription[] => [
  ...(sendsMail(collection)
    ? [
        {
          name: `${managedPrefix}effect_mails`,
          key: { [pendingMailsAt]: 1 },
          partialFilterExpression: { [pendingMailsAt]: { $exists: true } },
        },
      ]
    : []),
  ...dueFields(collection).map(({ path, mark }) => ({
    name: `${managedPrefix}effect_${mark}`,
    key: { [`${seenField}.${mark}`]: 1 as const, [path]: 1 as const },
    partialFilterExpression: { [path]: { $exists: true } },
  })),
];

const username = 'username';

export const managedIndexes = ({
  name,
  schema,
  rls,
  searchLanguage = 'none',
  feed,
  ruleIndexes = [],
  uniqueLists = [],
  partition,
  effects,
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
    ...(feed?.on ? feedIndexes(rls, partition) : []),
    ...fields.filter(({ unique }) => unique).map((field) => uniqueIndex(field, rls)),
    ...referenceIndexes({ schema }),
    ...uniqueLists.map((list) => listIndex({ schema, rls }, list)),
    ...[...read].map((key) => readIndex(key, unique.has(key) ? noRowSecurity : rls)),
    ...searchIndexes(fields, searchLanguage),
    ...effectIndexes({ ...(effects && { effects }) }),
    ...(isUsers ? [...userIndexes, anonymousIndex] : []),
  ];
};

export const orderedIndexes = (collection: Collection): readonly IndexDescription[] =>
  managedIndexes(collection).filter(
    ({ name, partialFilterExpression }) => !partialFilterExpression && !name?.startsWith(searchPrefix),
  );

const roomForFeed = 2;

/** Throws 400 `INVALID_SCHEMA` if the indexes exceed MongoDB's limit. */
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
