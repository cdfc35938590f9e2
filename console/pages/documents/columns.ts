import type { Collection, Field } from '../../../shared/collections/collection.ts';
import { fieldAt } from '../../../shared/collections/schema/field-path.ts';
import type { FieldType } from '../../../shared/collections/schema/field-types.ts';

const mostShown = 8;
const ofService: ReadonlySet<string> = new Set(['_id', 'isDeleted', 'deletedAt', 'createdAt', 'updatedAt', '__v']);
const kept = ['_id', 'createdAt', 'updatedAt'] as const;

type Documents = readonly Readonly<Record<string, unknown>>[];

const paths = (fields: readonly Field[], above = ''): readonly string[] =>
  fields.flatMap((field) => [
    above + field.key,
    ...(field.type === 'Object' && field.fields ? paths(field.fields, `${above}${field.key}.`) : []),
  ]);

const seenIn = (documents: Documents): ReadonlySet<string> =>
  new Set(documents.flatMap((document) => Object.keys(document).filter((key) => !ofService.has(key))));

/** All fields that a list can show or filter by: of the schema at any depth, and of the loaded documents. */
export const fieldPaths = (rules: readonly Field[], documents: Documents = []): readonly string[] => [
  ...new Set([...paths(rules), ...seenIn(documents), ...kept]),
];

/** The default columns: the fields of the schema, or of the documents, and `createdAt`. */
export const usualColumns = (rules: readonly Field[], documents: Documents = []): readonly string[] => {
  const shown = [...new Set([...rules.map(({ key }) => key), ...seenIn(documents)])].slice(0, mostShown);
  return [...(shown.length === 0 ? ['_id'] : shown), 'createdAt'];
};

/** The columns in a text from the address or from the browser's storage. */
export const chosenColumns = (text: unknown): readonly string[] | undefined => {
  if (typeof text !== 'string') return undefined;
  const names = [...new Set(text.split(',').filter(Boolean))];
  return names.length === 0 ? undefined : names;
};

/** The type at a path. For an array it is the type of its elements, which filters compare with. */
export const typeOf = (rules: Collection['schema'], path: string): FieldType | undefined => {
  const at = fieldAt(rules, path);
  return at?.type === 'Array' ? at.items?.type : at?.type;
};

/** The collection that the ids at a path refer to, if any. */
export const refOf = (rules: Collection['schema'], path: string): string | undefined => fieldAt(rules, path)?.ref;

/** The value of a document at a dotted path. */
export const valueAt = (document: unknown, path: string): unknown => {
  const whole = (document as Readonly<Record<string, unknown>> | null)?.[path];
  if (whole !== undefined || !path.includes('.')) return whole;
  return path
    .split('.')
    .reduce<unknown>(
      (at, key) => (typeof at === 'object' && at !== null ? (at as Readonly<Record<string, unknown>>)[key] : undefined),
      document,
    );
};
