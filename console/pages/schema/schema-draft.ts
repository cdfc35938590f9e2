import type { Field, ValueType } from '../../../shared/collections/collection.ts';
import type { Bounds } from '../../../shared/collections/schema/field-bounds.ts';
import { type FieldType, fieldTypes } from '../../../shared/collections/schema/field-types.ts';
import type { DeleteAction } from '../../../shared/collections/schema/references.ts';
import { type FieldProblem, Problem } from '../../api/problem.ts';
import { schema as words } from '../../text/schema.ts';
import { type BoundsDraft, boundsDraftOf, boundsFrom, isBound } from './bounds-draft.ts';

/** A field as it is edited, or the elements of an array, which have no key. */
export interface FieldDraft {
  /** Identifies the row on this page. */
  readonly id: number;
  /** The key as saved; absent for a new field. */
  readonly was?: string | undefined;
  readonly key: string;
  readonly type: FieldType;
  readonly required: boolean;
  readonly unique: boolean;
  readonly uniquePer?: 'owner' | undefined;
  readonly searchable: boolean;
  /** `''` for everyone, a word, or a rule as JSON. */
  readonly write: string;
  readonly read: string;
  /** The default as text. Absent without a default; an empty text is a default too. */
  readonly fallback?: string | undefined;
  readonly ref: string;
  readonly exists: boolean;
  readonly onDelete: DeleteAction | '';
  readonly bounds: BoundsDraft;
  /** What an array contains; absent for elements of any type. */
  readonly items?: FieldDraft | undefined;
  readonly fields: readonly FieldDraft[];
  /** Options without a control here. They are kept. */
  readonly others: Readonly<Record<string, unknown>>;
}

let lastId = 0;
const nextId = (): number => {
  lastId += 1;
  return lastId;
};

export const newField = (given: Partial<FieldDraft> = {}): FieldDraft => ({
  ...{ key: '', type: 'String', required: false, unique: false, searchable: false, write: '', read: '' },
  ...{ ref: '', exists: false, onDelete: '', bounds: {}, fields: [], others: {} },
  ...given,
  id: nextId(),
});

export const mayHaveDefault = (type: FieldType): boolean => fieldTypes[type].default;
export const mayBeUnique = (type: FieldType): boolean => fieldTypes[type].unique;
export const mayBeSearchable = ({ type, items }: FieldDraft): boolean =>
  type === 'String' || (type === 'Array' && items?.type === 'String');

/** A required field never uses its default, unless only the server sends the field. */
export const hasPointlessDefault = ({ required, fallback, type, write }: FieldDraft): boolean =>
  required && fallback !== undefined && mayHaveDefault(type) && write !== 'server';

export const writeWords = ['', 'server', 'create', 'true'] as const;
export const readWords = ['', 'server', 'owner'] as const;

const rightText = (right: unknown): string => {
  if (right === undefined || right === null) return '';
  return typeof right === 'object' ? JSON.stringify(right) : String(right);
};

const draftOfValue = (
  value: ValueType & Partial<Omit<Field, keyof ValueType>>,
  before: FieldDraft | undefined,
): FieldDraft => {
  const { key = '', type, required = false, unique = false, uniquePer, searchable = false, ...more } = value;
  const { write, read, default: fallback, ref = '', exists = false, onDelete = '', items, fields, ...rest } = more;
  return {
    id: before?.id ?? nextId(),
    was: key,
    ...{ key, type, required, unique, searchable, ref, exists, onDelete },
    ...(uniquePer && { uniquePer }),
    write: rightText(write),
    read: rightText(read),
    ...(fallback !== undefined && fallback !== null && { fallback: String(fallback) }),
    bounds: boundsDraftOf(rest as Bounds),
    ...(items && { items: draftOfValue(items, before?.items) }),
    fields: draftOf(fields, before?.fields),
    others: Object.fromEntries(Object.entries(rest).filter(([name]) => !isBound(name))),
  };
};

/** The fields of a saved schema. Rows of `before` with the same key keep their ids. */
export const draftOf = (
  schema: readonly Field[] | null | undefined,
  before: readonly FieldDraft[] = [],
): readonly FieldDraft[] => {
  const known = new Map(before.map((field) => [field.key, field]));
  return (schema ?? []).map((field) => draftOfValue(field, known.get(field.key)));
};

const withInner = (field: FieldDraft, change: (field: FieldDraft) => FieldDraft): FieldDraft => {
  const { items, fields } = field;
  const inner = fields.map((one) => withInner(one, change));
  return change({ ...field, fields: inner, items: items && withInner(items, change) });
};

/** A proposal, which is not saved yet. */
export const asNew = (field: FieldDraft): FieldDraft => withInner(field, (one) => ({ ...one, was: undefined }));

/** Restored rows, whose ids could be those of others. */
export const renumbered = (fields: readonly FieldDraft[]): readonly FieldDraft[] =>
  fields.map((field) => withInner(field, (one) => ({ ...one, id: nextId() })));

/** The rows with the keys of `saved`, which has rows with the same ids. */
export const withSavedKeys = (fields: readonly FieldDraft[], saved: readonly FieldDraft[]): readonly FieldDraft[] => {
  const keys = new Map<number, string>();
  for (const field of saved) {
    withInner(field, (one) => {
      keys.set(one.id, one.key);
      return one;
    });
  }
  return fields.map((field) => withInner(field, (one) => ({ ...one, was: keys.get(one.id) ?? one.was })));
};

/** The path of a field in errors of the API. */
export const pathOf = (parent: string, { key }: FieldDraft, place: number): string => {
  if (key !== '') return parent ? `${parent}.${key}` : key;
  return `${parent ? `${parent}.fields` : 'schema'}.${place}`;
};

export const elementsPath = (parent: string): string => `${parent}.items`;

type Report = (field: string, message: string) => void;

/** The right as it is sent; absent if everyone has it. */
const rightOf = (path: string, option: 'write' | 'read', text: string, report: Report): object => {
  const typed = text.trim();
  if (typed === '') return {};
  if (typed === 'true') return { [option]: true };
  if (!typed.startsWith('{')) return { [option]: typed };
  try {
    return { [option]: JSON.parse(typed) as object };
  } catch {
    report(path, words.wrong.rule(path));
    return {};
  }
};

/** The typed default as a value. */
const defaultIn = ({ type, fallback = '' }: FieldDraft, path: string, report: Report): unknown => {
  const json = fieldTypes[type].json.type;
  if (json === 'string') return fallback;
  const text = fallback.trim();
  if (json === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  const number = text === '' ? Number.NaN : Number(text);
  if (json === 'number' && Number.isFinite(number)) return number;
  report(path, words.wrong.fallback(path, type, fallback));
  return undefined;
};

const typeIn = (draft: FieldDraft, path: string, report: Report): Record<string, unknown> => {
  const { type, ref, exists, onDelete, items, fields, bounds, others } = draft;
  if (type === 'Ref' && ref === '') report(path, words.wrong.ref(path));
  return {
    ...others,
    type,
    ...(type === 'Ref' && { ref, ...(exists && { exists }), ...(onDelete && { onDelete }) }),
    ...(type === 'Array' && items && { items: typeIn(items, elementsPath(path), report) }),
    ...(type === 'Object' && fields.length > 0 && { fields: fieldsIn(fields, path, report) }),
    ...boundsFrom(type, bounds, (name, typed) => report(path, words.wrong.bound(path, words.bounds[name], typed))),
  };
};

const fieldIn = (draft: FieldDraft, path: string, isTop: boolean, report: Report): Record<string, unknown> => {
  const { key, type, required, unique, uniquePer, searchable, write, read, fallback } = draft;
  const isUnique = isTop && unique && mayBeUnique(type);
  return {
    ...typeIn(draft, path, report),
    key,
    required,
    unique: isUnique,
    ...(isUnique && uniquePer && { uniquePer }),
    ...(isTop && searchable && mayBeSearchable(draft) && { searchable }),
    ...rightOf(path, 'write', write, report),
    ...rightOf(path, 'read', read, report),
    ...(fallback !== undefined && mayHaveDefault(type) && { default: defaultIn(draft, path, report) }),
  };
};

const fieldsIn = (fields: readonly FieldDraft[], parent: string, report: Report): readonly Record<string, unknown>[] =>
  fields.map((field, place) => {
    const path = pathOf(parent, field, place);
    if (field.key === '') report(path, words.wrong.name);
    else if (fields.findIndex(({ key }) => key === field.key) < place) report(path, words.wrong.twice(field.key));
    return fieldIn(field, path, parent === '', report);
  });

/** The schema to send, `null` if there are no fields. Throws a `Problem` that names each field that is not complete. */
export const schemaOf = (fields: readonly FieldDraft[]): readonly Record<string, unknown>[] | null => {
  const errors: FieldProblem[] = [];
  const sent = fieldsIn(fields, '', (field, message) => errors.push({ field, message }));
  const [first] = errors;
  if (first) throw new Problem(400, { message: first.message, errors });
  return sent.length === 0 ? null : sent;
};
