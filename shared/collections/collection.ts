import type { RulesInput } from './rules/rule.ts';
import type { Bounds } from './schema/field-bounds.ts';
import type { FieldType, SearchLanguage } from './schema/field-types.ts';
import type { UniqueList } from './schema/unique-lists.ts';

/** What a schema says of a value: of a field, of every element of an `Array`. */
export interface ValueType extends Bounds {
  readonly type: FieldType;
  /** Name of the collection a `Ref` points into. */
  readonly ref?: string;
  /** Of a `Ref`: whether its document must exist when it is written. */
  readonly exists?: true;
  /** Of a `Ref`: whether its document can be deleted while this one is active. */
  readonly onDelete?: 'restrict';
  /** Elements of an `Array`. */
  readonly items?: ValueType;
  /** Sub-fields of an `Object`. */
  readonly fields?: readonly Field[];
}

/** One field of a collection schema (specification, "Collection schema"). */
export interface Field extends ValueType {
  readonly key: string;
  readonly required: boolean;
  readonly unique: boolean;
  /** Unique among the documents of one owner only. */
  readonly uniquePer?: 'owner';
  readonly default?: string | number | boolean;
  /** Whether searches go through it. */
  readonly searchable?: true;
  /** Who sets the field; `true`: everyone who may write the document. */
  readonly write?: FieldWriters;
  /** Whose responses contain the field; `true`: those of everyone who may read the document. */
  readonly read?: FieldReaders;
}

/** An access rule as a developer writes it. */
export type RuleInput = { readonly [key: string]: unknown };

export type FieldWriters = 'server' | 'create' | true | RuleInput;

export type FieldReaders = 'server' | 'owner' | true | RuleInput;

/** Who may read: everyone, the owner, every signed-in user, or whoever the rules allow. */
export const rowSecurityModes = ['public-read', 'private', 'signed-in', 'rules'] as const;

/**
 * Row-level security of a collection; `ownerField` is a top-level, implied `String`, and '' if a collection with rules
 * has none. `trash`: whose trashed documents a publishable key may ask for, everybody's (of those that it may read) or
 * only its own user's. `requires`: what a user must have signed in with to read or write anything.
 */
export interface RowSecurity {
  readonly enabled: boolean;
  readonly mode: (typeof rowSecurityModes)[number];
  readonly ownerField: string;
  /** In mode `rules`, as they were sent. */
  readonly rules?: RulesInput;
  /** When the `read` rule was last changed, which ends the positions of the changes feed. */
  readonly readSince?: Date;
  readonly trash: 'everyone' | 'owner';
  readonly requires: 'none' | 'mfa';
}

/** Whether documents are hidden from all but their owners. */
export const isPrivate = ({ enabled, mode }: Pick<RowSecurity, 'enabled' | 'mode'>): boolean =>
  enabled && mode === 'private';

/** Whether rules decide who may read and write. */
export const hasRules = ({ enabled, mode }: Pick<RowSecurity, 'enabled' | 'mode'>): boolean =>
  enabled && mode === 'rules';

/** Whether an invalid token is refused even if nobody need be signed in: a list would lack the user's own documents. */
export const refusesInvalidTokens = ({ enabled, mode }: Pick<RowSecurity, 'enabled' | 'mode'>): boolean =>
  enabled && (mode === 'rules' || mode === 'signed-in');

/** The field that holds the owner of a document; `undefined` if documents have none. */
export const ownerFieldOf = ({ enabled, ownerField }: RowSecurity): string | undefined =>
  enabled && ownerField !== '' ? ownerField : undefined;

/** Whether only users who signed in with a second factor get at anything. */
export const requiresFactor = ({ enabled, requires }: Pick<RowSecurity, 'enabled' | 'requires'>): boolean =>
  enabled && requires === 'mfa';

/** An index of the developer's own by its keys, as pairs, in their order. */
export type IndexKeys = readonly (readonly [path: string, kind: 1 | -1 | '2dsphere' | 'text'])[];

const innerFields = ({ items, fields = [] }: ValueType): readonly Field[] =>
  items ? [...innerFields(items), ...fields] : fields;

/** The fields of a schema at every depth. */
export const allFields = (fields: readonly Field[]): readonly Field[] =>
  fields.flatMap((field) => [field, ...allFields(innerFields(field))]);

/** The changes feed of a collection; kept when it is switched off, since tombstones may be there. */
export interface Feed {
  readonly on: boolean;
  /** When it was switched on, which is where it begins. */
  readonly from: Date;
  /** From then on every function knows of it, so that none deletes anything without a tombstone. */
  readonly readyAt: Date;
}

/** A registered collection as the data plane sees it; `schema: null` accepts any JSON object. */
export interface Collection {
  readonly name: string;
  readonly schema: readonly Field[] | null;
  readonly rls: RowSecurity;
  /** The language of its searchable fields; `none` where nothing is said. */
  readonly searchLanguage?: SearchLanguage;
  /** Fields whose values are unique together. */
  readonly uniqueLists?: readonly UniqueList[];
  /** Those of the developer's own indexes that are built, of a private collection. */
  readonly ownIndexes?: readonly IndexKeys[];
  /** The fields by which indexes find what its `read` rule allows. */
  readonly ruleIndexes?: readonly string[];
  /** Whether its documents have no other fields than those of the schema. */
  readonly closed?: boolean;
  /** Where it has, or had, a changes feed. */
  readonly feed?: Feed | null;
  /** Tells it from one of the same name that was made before or after; there where `feed` is. */
  readonly id?: string;
}

export const noRowSecurity: RowSecurity = {
  enabled: false,
  mode: 'public-read',
  ownerField: 'userId',
  trash: 'everyone',
  requires: 'none',
};

/**
 * What nobody sees of a document: its revision, its position among the changes, its fuse, and the mark of a tombstone.
 */
export const hiddenFields: readonly string[] = ['_rev', '_pos', '_gone', '_fuse'];

/** Fields the service alone writes; clients cannot set them (specification, "Document"). */
export const systemFields: ReadonlySet<string> = new Set([
  ...['_id', 'isDeleted', 'deletedAt', 'createdAt', 'updatedAt'],
  ...hiddenFields,
]);

/** Whether a dotted path leads to a field that nobody sees, or into it. */
export const isHiddenPath = (path: string): boolean => hiddenFields.includes(path.split('.', 1)[0] ?? '');
