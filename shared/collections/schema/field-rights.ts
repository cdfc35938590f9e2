import * as v from 'valibot';
import { memoizeByObject } from '../../core/cache.ts';
import { AppError } from '../../core/errors.ts';
import { isPlainObject } from '../../core/json.ts';
import { cutText } from '../../core/text.ts';
import {
  type Collection,
  type Field,
  type FieldReaders,
  type FieldWriters,
  ownerFieldOf,
  type RowSecurity,
  type ValueType,
} from '../collection.ts';
import { effectFields } from '../effects/effect.ts';
import { schemaError, usersCollection } from '../names.ts';

export const rightsShape = {
  write: v.optional(v.nullable(v.unknown())),
  read: v.optional(v.nullable(v.unknown())),
};

/** 400 naming the option, such as `schema.meta.score.write`. */
const invalidRule = (path: string, option: string, reason: string): AppError => {
  const field = cutText(`schema.${path}.${option}`, 200, '…');
  const message = `${field} ${reason}`;
  return new AppError('INVALID_RLS', message, { errors: [{ field, message }] });
};

interface RawRights {
  readonly write?: unknown;
  readonly read?: unknown;
}

const parseRight = <Word extends string>(
  value: unknown,
  path: string,
  option: 'write' | 'read',
  words: readonly Word[],
): Word | true | Readonly<Record<string, unknown>> | undefined => {
  if (value == null) return undefined;
  if (value === true || isPlainObject(value)) return value;
  const word = words.find((each) => each === value);
  if (word !== undefined) return word;
  const listed = words.map((each) => `"${each}"`).join(', ');
  if (value === false) throw invalidRule(path, option, 'cannot be false. Write "server" for a field of the server.');
  throw schemaError(path, `must have ${listed}, true or a rule as ${option}, or leave it out`);
};

/** Throws 400 `INVALID_SCHEMA`, or `INVALID_RLS` for an invalid rule. */
export const parseRights = ({ write, read }: RawRights, path: string) => {
  const [writes, reads] = [
    parseRight(write, path, 'write', ['server', 'create']),
    parseRight(read, path, 'read', ['server', 'owner']),
  ];
  return { ...(writes !== undefined && { write: writes }), ...(reads !== undefined && { read: reads }) };
};

export interface FieldRight {
  readonly path: string;
  readonly segments: readonly string[];
  readonly arrays: number;
  readonly field: Field;
  readonly write?: Exclude<FieldWriters, true>;
  readonly read?: Exclude<FieldReaders, true>;
}

const innerOf = ({ items, fields = [] }: ValueType, arrays: number): readonly [readonly Field[], number] =>
  items ? innerOf(items, arrays + 1) : [fields, arrays];

const hasReadInside = (value: ValueType): boolean =>
  innerOf(value, 0)[0].some((field) => (field.read !== undefined && field.read !== true) || hasReadInside(field));

/** `uniqueItems` over a field that not everyone may read: an error would reveal its values. */
const tellingArray = (value: ValueType, path: string): string | undefined => {
  if (value.uniqueItems && hasReadInside(value)) return path;
  if (value.items) return tellingArray(value.items, path);
  for (const field of value.fields ?? []) {
    const found = tellingArray(field, `${path}.${field.key}`);
    if (found !== undefined) return found;
  }
  return undefined;
};

const rightsIn = (fields: readonly Field[], above: readonly string[], arrays: number): readonly FieldRight[] =>
  fields.flatMap((field) => {
    const { key, write, read } = field;
    const segments = [...above, key];
    const [inner, more] = innerOf(field, arrays);
    const inside = inner.length > 0 ? rightsIn(inner, segments, more) : [];
    if (write === undefined && read === undefined) return inside;
    const right: FieldRight = {
      ...{ path: segments.join('.'), segments, arrays, field },
      ...(write !== undefined && write !== true && { write }),
      ...(read !== undefined && read !== true && { read }),
    };
    return [right, ...inside];
  });

interface CollectionRights {
  readonly written: readonly FieldRight[];
  readonly read: readonly FieldRight[];
}

/** Only the service writes the fields that effects set. */
const withEffectRights = (rights: readonly FieldRight[], collection: Rightful): readonly FieldRight[] => {
  const fields = effectFields(collection);
  if (fields.size === 0) return rights;
  const ofEffects = [...fields].map((key): FieldRight => {
    const right = rights.find(({ path }) => path === key);
    const field = collection.schema?.find((each) => each.key === key) ?? {
      ...{ key, type: 'Object', required: false, unique: false },
    };
    return { ...{ path: key, segments: [key], arrays: 0, field }, ...right, write: 'server' };
  });
  return [...rights.filter(({ path }) => !fields.has(path)), ...ofEffects];
};

type Rightful = Pick<Collection, 'schema' | 'effects'>;

export const rightsOf = memoizeByObject((collection: Rightful): CollectionRights => {
  const all = withEffectRights(rightsIn(collection.schema ?? [], [], 0), collection);
  return {
    written: all.filter(({ write }) => write !== undefined),
    read: all.filter(({ read }) => read !== undefined),
  };
});

const isRule = (right: FieldWriters | FieldReaders | undefined): boolean => typeof right === 'object';

export const hasFieldRules = (collection: Pick<Collection, 'schema'>): boolean => {
  const { written, read } = rightsOf(collection);
  return written.some(({ write }) => isRule(write)) || read.some((right) => isRule(right.read));
};

const maxBytes = 8 * 1024;

/**
 * Throws 400 `INVALID_SCHEMA` for `write` inside array elements, a required field that nobody sends, and a searchable
 * field with `read`. Throws 400 `INVALID_RLS` for more than 8 KiB of rules.
 */
export const requireRights = (fields: readonly Field[]): void => {
  for (const field of fields) {
    const telling = tellingArray(field, field.key);
    if (telling !== undefined)
      throw schemaError(
        telling,
        'has uniqueItems, and a field with read inside it: a rejected write would reveal that field',
      );
  }
  let bytes = 0;
  for (const { path, arrays, field } of rightsIn(fields, [], 0)) {
    const { write, read, required } = field;
    if (write !== undefined && arrays > 0)
      throw schemaError(path, 'has write, which fields of Array elements cannot have. Set it on the Array');
    if (write === 'server' && required && field.default === undefined)
      throw schemaError(path, 'is required, but with "write": "server" no user can send it. Give it a default');
    if (field.searchable && read !== undefined)
      throw schemaError(path, 'is searchable and has read, but a search would tell what the field holds');
    for (const [option, right] of [['write', write] as const, ['read', read] as const]) {
      if (!isRule(right)) continue;
      bytes += Buffer.byteLength(JSON.stringify(right));
      if (bytes > maxBytes)
        throw invalidRule(
          path,
          option,
          `exceeds the limit: all rules of fields together may have ${maxBytes / 1024} KiB of JSON.`,
        );
    }
  }
};

/** Throws 400 `INVALID_SCHEMA` for `read: "owner"` if documents have no owner. */
export const requireOwners = (name: string, schema: readonly Field[] | null, rls: RowSecurity): void => {
  if (name === usersCollection || ownerFieldOf(rls) !== undefined) return;
  const owned = rightsOf({ schema }).read.find(({ read }) => read === 'owner');
  if (owned) throw schemaError(owned.path, 'has "read": "owner", which needs an owner field (rls.ownerField)');
};

const withoutRulesInside = <T extends ValueType>(value: T): T => ({
  ...value,
  ...(value.items && { items: withoutRulesInside(value.items) }),
  ...(value.fields && { fields: withoutFieldRules(value.fields) }),
});

/** Publishable keys do not see rules. */
export const withoutFieldRules = (fields: readonly Field[]): readonly Field[] =>
  fields.map((field) => {
    const { write, read, ...rest } = withoutRulesInside(field);
    return {
      ...rest,
      ...(write !== undefined && !isRule(write) && { write }),
      ...(read !== undefined && !isRule(read) && { read }),
    };
  });
