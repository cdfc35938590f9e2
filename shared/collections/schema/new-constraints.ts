import { linearPattern } from '../../core/linear-pattern.ts';
import { type Collection, type Field, ownerFieldOf, systemFields, type ValueType } from '../collection.ts';
import { usersCollection } from '../names.ts';
import { type BoundName, type Bounds, boundMessage, boundsIn, textFormats } from './field-bounds.ts';
import { type FieldType, type FieldTypeJson, fieldTypes, withArticle } from './field-types.ts';
import { emailVerifiedField, hiddenUserFields } from './users.ts';

/** A new requirement on a path: documents that violate `schema` prevent the edit. */
export interface Constraint {
  readonly path: string;
  readonly message: string;
  readonly schema: MongoJsonSchema;
}

/** The part of the type's JSON schema that MongoDB can check. */
const storedAs = (type: FieldType) => {
  const { json, bsonType } = fieldTypes[type];
  const { type: _type, format: _format, ...form }: FieldTypeJson = json;
  return { ...form, bsonType };
};

const messageOf = (typeIsNew: boolean, requiredIsNew: boolean, type: FieldType): string =>
  [...(requiredIsNew ? ['is required'] : []), ...(typeIsNew ? [`must be ${withArticle(type)}`] : [])].join(' and ');

const ofField = (field: Field, old: Field | undefined, path: string, lift: Lift): Constraint[] => {
  const typeIsNew = old?.type !== field.type;
  const requiredIsNew = field.required && !old?.required;
  if (!typeIsNew && !requiredIsNew) return [];
  const { bsonType, ...form } = storedAs(field.type);
  const value = { ...form, bsonType: field.required ? [bsonType] : [bsonType, 'null'] };
  return [
    {
      path,
      message: messageOf(typeIsNew, requiredIsNew, field.type),
      schema: lift({ properties: { [field.key]: value }, ...(field.required ? { required: [field.key] } : {}) }),
    },
  ];
};

const boundsOf = (field: Field, old: Field | undefined, path: string, lift: Lift): Constraint[] =>
  newBounds(field, old?.type === field.type ? old : undefined).map(({ message, keywords }) => ({
    path,
    message,
    schema: lift({ properties: { [field.key]: keywords } }),
  }));

const inside = (now: ValueType, before: ValueType | undefined, path: string, lift: Lift): Constraint[] => {
  const old = before?.type === now.type ? before : undefined;
  if (now.fields) return ofFields(now.fields, old?.fields ?? [], `${path}.`, lift);
  if (!now.items) return [];
  const { items } = now;
  const liftItem: Lift = (inner) => lift({ items: inner });
  const own =
    old?.items?.type === items.type
      ? []
      : [
          {
            path,
            message: `may only have elements of type ${items.type}`,
            schema: liftItem(storedAs(items.type)),
          },
        ];
  const oldItems = old?.items?.type === items.type ? old.items : undefined;
  const ofBounds = newBounds(items, oldItems).map(({ message, keywords }) => ({
    path,
    message: `may only have elements of which each ${message}`,
    schema: liftItem(keywords),
  }));
  return [...own, ...ofBounds, ...inside(items, old?.items, path, liftItem)];
};

const ofFields = (now: readonly Field[], before: readonly Field[], prefix: string, lift: Lift): Constraint[] =>
  now.flatMap((field) => {
    const old = before.find(({ key }) => key === field.key);
    const path = prefix + field.key;
    return [
      ...ofField(field, old, path, lift),
      ...boundsOf(field, old, path, lift),
      ...inside(field, old, path, (inner) => lift({ properties: { [field.key]: inner } })),
    ];
  });

/**
 * Returns what a new schema requires beyond the old one: types, required fields and bounds at every depth. `null` is a
 * schema without requirements.
 */
export const newConstraints = (now: readonly Field[] | null, before: readonly Field[] | null): readonly Constraint[] =>
  ofFields(now ?? [], before ?? [], '', (inner) => inner);

type MongoJsonSchema = { readonly [keyword: string]: unknown };

/** Lifts a condition on an inner value to the whole document. */
type Lift = (inner: MongoJsonSchema) => MongoJsonSchema;

const patternKeywords = (pattern: string): MongoJsonSchema => ({ pattern: linearPattern(pattern).pcre });

/** Optional values may be `null`, which only `enum` would exclude. */
const keywords: { readonly [Name in BoundName]: (bound: NonNullable<Bounds[Name]>) => MongoJsonSchema } = {
  enum: (values) => ({ enum: [...values, null] }),
  minLength: (minLength) => ({ minLength }),
  maxLength: (maxLength) => ({ maxLength }),
  pattern: patternKeywords,
  format: (format) => {
    const { pattern, format: _format, ...rest } = textFormats[format].json;
    return { ...patternKeywords(pattern), ...rest };
  },
  min: (minimum) => ({ minimum }),
  max: (maximum) => ({ maximum }),
  integer: () => ({ multipleOf: 1 }),
  minItems: (minItems) => ({ minItems }),
  maxItems: (maxItems) => ({ maxItems }),
  uniqueItems: () => ({ uniqueItems: true }),
};

/** True if a bound is at most as strict as before. */
const isRelaxed = (name: BoundName, now: Bounds, before: Bounds): boolean => {
  if (before[name] === undefined) return false;
  if (name === 'enum') return before.enum?.every((value) => now.enum?.includes(value)) === true;
  if (name.startsWith('min')) return Number(now[name]) <= Number(before[name]);
  if (name.startsWith('max')) return Number(now[name]) >= Number(before[name]);
  return now[name] === before[name];
};

/** The bounds that are stricter than before, with their messages. */
const newBounds = (
  now: ValueType,
  before: Bounds | undefined,
): readonly { readonly message: string; readonly keywords: MongoJsonSchema }[] =>
  boundsIn(now)
    .filter((name) => !isRelaxed(name, now, before ?? {}))
    .map((name) => ({
      message: boundMessage(now, name),
      keywords: (keywords[name] as (bound: unknown) => MongoJsonSchema)(now[name]),
    }));

/** The path to an object with fields; `items` are array elements. */
export interface ClosedObject {
  readonly steps: readonly ({ readonly key: string } | 'items')[];
  readonly known: readonly string[];
  readonly lift: Lift;
}

const insideOf = (
  now: ValueType,
  before: ValueType | undefined,
  wasClosed: boolean,
  { steps, lift }: Pick<ClosedObject, 'steps' | 'lift'>,
): readonly ClosedObject[] => {
  if (now.fields) return ofObject(now.fields, before?.fields, wasClosed, { steps, lift });
  if (!now.items) return [];
  const inner = { steps: [...steps, 'items' as const], lift: (items: MongoJsonSchema) => lift({ items }) };
  return insideOf(now.items, before?.items, wasClosed, inner);
};

const ofObject = (
  fields: readonly Field[],
  before: readonly Field[] | undefined,
  wasClosed: boolean,
  { steps, lift }: Pick<ClosedObject, 'steps' | 'lift'>,
): readonly ClosedObject[] => {
  const known = fields.map(({ key }) => key);
  const keeps = wasClosed && before?.every(({ key }) => known.includes(key));
  const inside = fields.flatMap((field) => {
    const old = before?.find(({ key }) => key === field.key);
    const at = {
      steps: [...steps, { key: field.key }],
      lift: (inner: MongoJsonSchema) => lift({ properties: { [field.key]: inner } }),
    };
    return insideOf(field, old, wasClosed, at);
  });
  return keeps ? inside : [{ steps, known, lift }, ...inside];
};

const besides = ({ name, rls }: Collection): readonly string[] => [
  ...systemFields,
  ...[ownerFieldOf(rls) ?? []].flat(),
  ...(name === usersCollection ? [...hiddenUserFields, emailVerifiedField] : []),
];

/**
 * The objects that may contain fields which a closed collection forbids: all if it was open, otherwise those that lost
 * a field.
 */
export const newlyClosed = (
  now: Collection,
  before: Pick<Collection, 'schema' | 'closed'>,
): readonly ClosedObject[] => {
  if (!now.closed || !now.schema) return [];
  const top = { steps: [], lift: (inner: MongoJsonSchema) => inner };
  return ofObject(now.schema, before.schema ?? undefined, before.closed === true, top).map((object) =>
    object.steps.length === 0 ? { ...object, known: [...object.known, ...besides(now)] } : object,
  );
};

export const pathTo = ({ steps }: ClosedObject): string =>
  steps.flatMap((step) => (step === 'items' ? [] : [step.key])).join('.');

/** Pipeline stages that count unknown names of one object. The database does the work, not this process. */
export const unknownNames = ({ steps, known, lift }: ClosedObject, examples: number, most: number) => {
  const open = lift({ properties: Object.fromEntries(known.map((name) => [name, {}])), additionalProperties: false });
  const names = { $map: { input: { $objectToArray: '$at' }, in: '$$this.k' } };
  return [
    { $match: { $nor: [{ $jsonSchema: open }] } },
    { $project: { at: '$$ROOT' } },
    ...steps.map((step) => (step === 'items' ? { $unwind: '$at' } : { $project: { at: `$at.${step.key}` } })),
    { $match: { $expr: { $eq: [{ $type: '$at' }, 'object'] } } },
    { $project: { name: { $setDifference: [names, { $literal: known }] } } },
    { $unwind: '$name' },
    // Elements of one array may have the same name.
    { $group: { _id: { name: '$name', id: '$_id' } } },
    { $group: { _id: '$_id.name', count: { $sum: 1 }, examples: { $firstN: { n: examples, input: '$_id.id' } } } },
    { $sort: { count: -1 as const, _id: 1 as const } },
    { $limit: most },
  ];
};
