import type { ValueType } from '../../../shared/collections/collection.ts';
import type { Bounds } from '../../../shared/collections/schema/field-bounds.ts';
import { fieldTypeNames, fieldTypes, isScalar } from '../../../shared/collections/schema/field-types.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { type BoundsDraft, boundsDraftOf, boundsFrom, isBound } from './bounds-draft.ts';
import { withoutRefOptions } from './ref-options.tsx';

type Field = NonNullable<Data<'get-collection'>['schema']>[number];
export type FieldType = Field['type'];

export interface FieldDraft {
  readonly key: string;
  readonly type: FieldType;
  readonly required: boolean;
  readonly unique: boolean;
  readonly uniquePer: 'owner' | undefined;
  readonly searchable: boolean;
  /** `''` for everyone, a word, or a rule as JSON. */
  readonly write: string;
  readonly read: string;
  /** Absent if there is none; an empty text is a default too. */
  readonly fallback?: string | undefined;
  readonly ref: string;
  /** What an array or object contains: `String`, `city: String, zip: Number`, or `items` and `fields` as JSON. */
  readonly inside: string;
  readonly bounds: BoundsDraft;
  /** Options without a control here. They are kept. */
  readonly others: Readonly<Record<string, unknown>>;
}

export const newField: FieldDraft = {
  key: '',
  type: 'String',
  required: false,
  unique: false,
  uniquePer: undefined,
  searchable: false,
  write: '',
  read: '',
  ref: '',
  inside: '',
  bounds: {},
  others: {},
};

export const mayHaveDefault = (type: FieldType): boolean => fieldTypes[type].default;
export const mayBeSearchable = (type: FieldType): boolean => type === 'String' || type === 'Array';

const isPlain = (rules: object): boolean =>
  Object.entries(rules).every(([name, value]) => name === 'key' || name === 'type' || value === false);

/** What a field contains, in the short form if that is enough. */
const insideText = ({ items, fields }: Pick<ValueType, 'items' | 'fields'>): string => {
  if (items !== undefined && fields === undefined && isPlain(items)) return items.type;
  if (fields !== undefined && items === undefined && fields.length > 0 && fields.every(isPlain))
    return fields.map(({ key, type }) => `${key}: ${type}`).join(', ');
  if (items === undefined && fields === undefined) return '';
  return JSON.stringify({ ...(items === undefined ? {} : { items }), ...(fields === undefined ? {} : { fields }) });
};

export const writeWords = ['', 'server', 'create', 'true'] as const;
export const readWords = ['', 'server', 'owner'] as const;

const rightText = (right: unknown): string => {
  if (right === undefined || right === null) return '';
  return typeof right === 'object' ? JSON.stringify(right) : String(right);
};

/** The right as it is sent; absent if everyone has it. */
const rightOf = (key: string, option: 'write' | 'read', text: string): object => {
  const typed = text.trim();
  if (typed === '') return {};
  if (typed === 'true') return { [option]: true };
  if (!typed.startsWith('{')) return { [option]: typed };
  try {
    return { [option]: JSON.parse(typed) as object };
  } catch {
    throw new Error(t.schema.wrongRule(key));
  }
};

export const draftOf = (schema: readonly Field[] | null): readonly FieldDraft[] =>
  (schema ?? []).map(
    ({
      key,
      type,
      required,
      unique,
      uniquePer,
      searchable = false,
      write,
      read,
      default: fallback,
      ref,
      items,
      fields,
      ...rest
    }) => ({
      key,
      type,
      required,
      unique,
      uniquePer,
      searchable,
      write: rightText(write),
      read: rightText(read),
      fallback: fallback === undefined ? undefined : String(fallback),
      ref: ref ?? '',
      inside: insideText({ items, fields } as Pick<ValueType, 'items' | 'fields'>),
      bounds: boundsDraftOf(rest as Bounds),
      others: Object.fromEntries(Object.entries(rest).filter(([name]) => !isBound(name))),
    }),
  );

/** The typed default as a value. */
const defaultIn = ({ key, type, fallback = '' }: FieldDraft): string | number | boolean => {
  const json = fieldTypes[type].json.type;
  if (json === 'string') return fallback;
  const text = fallback.trim();
  if (json === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  const number = text === '' ? Number.NaN : Number(text);
  if (json === 'number' && Number.isFinite(number)) return number;
  throw new Error(t.schema.wrongDefault(key, type, fallback));
};

const isType = (text: string): boolean => fieldTypeNames.some((type) => type === text);

const namedFields = /^[^:,{}[\]"\s]+\s*:\s*\w+(?:\s*,\s*[^:,{}[\]"\s]+\s*:\s*\w+)*$/;

const jsonIn = (text: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && ('items' in value || 'fields' in value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** `items` and `fields` of an array or object. */
const insideOf = ({ key, type, inside }: FieldDraft): object => {
  const text = inside.trim();
  if (text === '') return {};
  if (type === 'Array' && isType(text)) return { items: { type: text } };
  if (type === 'Object' && namedFields.test(text)) {
    const pairs = text.split(',').map((pair) => pair.split(':').map((part) => part.trim()));
    if (pairs.every(([, one = '']) => isType(one)))
      return { fields: pairs.map(([name, one]) => ({ key: name, type: one })) };
  }
  const found = jsonIn(text);
  if (!found) throw new Error(t.schema.wrongInside(key, type === 'Array' ? 'Array' : 'Object'));
  return found;
};

/** The schema to send; `null` if there are no fields. */
export const schemaOf = (fields: readonly FieldDraft[]): readonly Record<string, unknown>[] | null =>
  fields.length === 0
    ? null
    : fields.map((field) => {
        const { key, type, required, unique, uniquePer, searchable, write, read, fallback, ref } = field;
        return {
          ...(type === 'Ref' ? field.others : withoutRefOptions(field.others)),
          key,
          type,
          required,
          unique,
          ...(unique && uniquePer && { uniquePer }),
          ...(searchable && mayBeSearchable(type) && { searchable }),
          ...rightOf(key, 'write', write),
          ...rightOf(key, 'read', read),
          ...(fallback !== undefined && mayHaveDefault(type) && { default: defaultIn(field) }),
          ...(ref !== '' && type === 'Ref' && { ref }),
          ...(isScalar(type) ? {} : insideOf(field)),
          ...boundsFrom(key, type, field.bounds),
        };
      });
