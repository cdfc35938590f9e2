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

/** Every field that a list can be filtered by or show: of the schema, at any depth, and of the documents that came. */
export const fieldPaths = (rules: readonly Field[], documents: Documents = []): readonly string[] => [
  ...new Set([...paths(rules), ...seenIn(documents), ...kept]),
];

/** Which fields a table shows if nobody chose: those of the schema, or of its documents, and when they were made. */
export const usualColumns = (rules: readonly Field[], documents: Documents = []): readonly string[] => {
  const shown = [...new Set([...rules.map(({ key }) => key), ...seenIn(documents)])].slice(0, mostShown);
  return [...(shown.length === 0 ? ['_id'] : shown), 'createdAt'];
};

/** The columns that a text lists: of the address, or kept by the browser. */
export const chosenColumns = (text: unknown): readonly string[] | undefined => {
  if (typeof text !== 'string') return undefined;
  const names = [...new Set(text.split(',').filter(Boolean))];
  return names.length === 0 ? undefined : names;
};

/** The type of what stands at a path; on arrays that of an element, which is what filters compare with. */
export const typeOf = (rules: Collection['schema'], path: string): FieldType | undefined => {
  const at = fieldAt(rules, path);
  return at?.type === 'Array' ? at.items?.type : at?.type;
};

/** The collection that the ids at a path refer to, if they do. */
export const refOf = (rules: Collection['schema'], path: string): string | undefined => fieldAt(rules, path)?.ref;

/** What a document has at a dotted path. */
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
