import type { RulesInput } from './rules/rule.ts';
import type { Bounds } from './schema/field-bounds.ts';
import type { FieldType, SearchLanguage } from './schema/field-types.ts';
import type { DeleteAction } from './schema/references.ts';
import type { UniqueList } from './schema/unique-lists.ts';

/** The value of a field, or of each element of an `Array`. */
export interface ValueType extends Bounds {
  readonly type: FieldType;
  /** `Ref`: the name of the target collection. */
  readonly ref?: string;
  /** `Ref`: the target must exist when the document is written. */
  readonly exists?: true;
  /** `Ref`: what happens when the target is deleted. */
  readonly onDelete?: DeleteAction;
  readonly items?: ValueType;
  readonly fields?: readonly Field[];
}

export interface Field extends ValueType {
  readonly key: string;
  readonly required: boolean;
  readonly unique: boolean;
  /** Unique among the documents of one owner. */
  readonly uniquePer?: 'owner';
  readonly default?: string | number | boolean;
  readonly searchable?: true;
  /** Who may set the field; `true`: everyone who may write the document. */
  readonly write?: FieldWriters;
  /** Who may read the field; `true`: everyone who may read the document. */
  readonly read?: FieldReaders;
}

type RuleInput = { readonly [key: string]: unknown };

export type FieldWriters = 'server' | 'create' | true | RuleInput;

export type FieldReaders = 'server' | 'owner' | true | RuleInput;

export const rowSecurityModes = ['public-read', 'private', 'signed-in', 'rules'] as const;

/**
 * `ownerField`: a top-level, implied `String`; '' if a collection with rules has none. `trash`: whether publishable
 * keys may request all trashed documents that they can read, or only their user's. `requires`: the factor of sign-in
 * that access needs.
 */
export interface RowSecurity {
  readonly enabled: boolean;
  readonly mode: (typeof rowSecurityModes)[number];
  readonly ownerField: string;
  /** Mode `rules`, as the developer sent them. */
  readonly rules?: RulesInput;
  /** The last change of the `read` rule, which invalidates positions of the changes feed. */
  readonly readSince?: Date;
  readonly trash: 'everyone' | 'owner';
  readonly requires: 'none' | 'mfa';
}

export const isPrivate = ({ enabled, mode }: Pick<RowSecurity, 'enabled' | 'mode'>): boolean =>
  enabled && mode === 'private';

export const hasRules = ({ enabled, mode }: Pick<RowSecurity, 'enabled' | 'mode'>): boolean =>
  enabled && mode === 'rules';

/** `undefined` if documents have no owner. */
export const ownerFieldOf = ({ enabled, ownerField }: RowSecurity): string | undefined =>
  enabled && ownerField !== '' ? ownerField : undefined;

export const requiresFactor = ({ enabled, requires }: Pick<RowSecurity, 'enabled' | 'requires'>): boolean =>
  enabled && requires === 'mfa';

/** Keys of a developer's index, in order. */
export type IndexKeys = readonly (readonly [path: string, kind: 1 | -1 | '2dsphere' | 'text'])[];

const innerFields = ({ items, fields = [] }: ValueType): readonly Field[] =>
  items ? [...innerFields(items), ...fields] : fields;

export const allFields = (fields: readonly Field[]): readonly Field[] =>
  fields.flatMap((field) => [field, ...allFields(innerFields(field))]);

/** Kept after the feed is switched off, because there may be tombstones. */
export interface Feed {
  readonly on: boolean;
  /** The feed begins here. */
  readonly from: Date;
  /** From this time every function knows the feed, so no deletion skips the tombstone. */
  readonly readyAt: Date;
}

/** An effect as the developer sent it: values that the service computes when a document is written. */
export type EffectInput = { readonly [key: string]: unknown };

/** `schema: null` accepts any JSON object. */
export interface Collection {
  readonly name: string;
  readonly schema: readonly Field[] | null;
  readonly rls: RowSecurity;
  /** Default: `none`. */
  readonly searchLanguage?: SearchLanguage;
  readonly uniqueLists?: readonly UniqueList[];
  /** Private collections: the developer's indexes that are built. */
  readonly ownIndexes?: readonly IndexKeys[];
  /** Fields of indexes that support the `read` rule. */
  readonly ruleIndexes?: readonly string[];
  /** True if documents have no fields outside the schema. */
  readonly closed?: boolean;
  readonly effects?: readonly EffectInput[];
  /** A required and immutable field; changes are told apart by its values. */
  readonly partition?: string;
  /** Present if the collection has or had a changes feed. */
  readonly feed?: Feed | null;
  /** Distinguishes collections that had the same name; present with `feed`. */
  readonly id?: string;
}

export const noRowSecurity: RowSecurity = {
  enabled: false,
  mode: 'public-read',
  ownerField: 'userId',
  trash: 'everyone',
  requires: 'none',
};

/** Row security of older and newer records. */
export type StoredRowSecurity = Omit<RowSecurity, 'trash' | 'requires'>;

/**
 * Returns the keys that the index is built with. In a private collection the owner comes first, so that no query of one
 * owner scans documents of another. An index that names the owner later stays, because it is for the secret key. A text
 * index stays too: MongoDB would search one owner's documents only.
 */
export const keysBuilt = (keys: IndexKeys, rls: StoredRowSecurity): IndexKeys => {
  const isGeo = keys.some(([, kind]) => kind === '2dsphere');
  const stays = keys.some(([path, kind]) => kind === 'text' || (path === rls.ownerField && !isGeo));
  if (!isPrivate(rls) || stays) return keys;
  return [[rls.ownerField, 1], ...keys.filter(([path]) => path !== rls.ownerField)];
};

/** Never returned: revision, feed position, fuse, tombstone marker, pending work of effects. */
export const hiddenFields: readonly string[] = ['_rev', '_pos', '_gone', '_fuse', '_effects'];

/** Only the service writes these. */
export const systemFields: ReadonlySet<string> = new Set([
  ...['_id', 'isDeleted', 'deletedAt', 'createdAt', 'updatedAt'],
  ...hiddenFields,
]);

export const isHiddenPath = (path: string): boolean => hiddenFields.includes(path.split('.', 1)[0] ?? '');
