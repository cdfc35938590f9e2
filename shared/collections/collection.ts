/** Types of the schema language. */
export const fieldTypes = ['String', 'Number', 'Boolean', 'Date', 'Object', 'Array', 'Ref'] as const;
/** Type of a field. */
export type FieldType = (typeof fieldTypes)[number];

/** What every element of an `Array` field must be. */
export interface Items {
  readonly type: FieldType;
  readonly ref?: string;
  readonly items?: Items;
  readonly fields?: readonly Field[];
}

/** One field of a collection schema (specification, "Collection schema"). */
export interface Field {
  readonly key: string;
  readonly type: FieldType;
  readonly required: boolean;
  readonly unique: boolean;
  readonly default?: string | number | boolean;
  /** Name of the collection a `Ref` points into. */
  readonly ref?: string;
  readonly items?: Items;
  readonly fields?: readonly Field[];
}

/**
 * Row-level security of a collection; `ownerField` is a top-level, implied `String`. `trash`: whose trashed documents a
 * publishable key may ask for, everybody's (of those that it may read) or only its own user's.
 */
export interface RowSecurity {
  readonly enabled: boolean;
  readonly mode: 'public-read' | 'private';
  readonly ownerField: string;
  readonly trash: 'everyone' | 'owner';
}

/** Whether documents are hidden from all but their owners. */
export const isPrivate = ({ enabled, mode }: Pick<RowSecurity, 'enabled' | 'mode'>): boolean =>
  enabled && mode === 'private';

/** An index of the developer's own by its keys, as pairs, in their order. */
export type IndexKeys = readonly (readonly [path: string, kind: 1 | -1 | '2dsphere' | 'text'])[];

/** A registered collection as the data plane sees it; `schema: null` accepts any JSON object. */
export interface Collection {
  readonly name: string;
  readonly schema: readonly Field[] | null;
  readonly rls: RowSecurity;
  /** Those of the developer's own indexes that are built, of a private collection. */
  readonly ownIndexes?: readonly IndexKeys[];
}

/** Row security of a collection without any. */
export const noRowSecurity: RowSecurity = {
  enabled: false,
  mode: 'public-read',
  ownerField: 'userId',
  trash: 'everyone',
};

/** Fields the service alone writes; clients cannot set them (specification, "Document"). */
export const systemFields: ReadonlySet<string> = new Set(['_id', 'isDeleted', 'deletedAt', 'createdAt', 'updatedAt']);
