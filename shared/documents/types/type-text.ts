import type { Field, ValueType } from '../../collections/collection.ts';
import { fieldTypes, isScalar, type ScalarType } from '../../collections/schema/field-types.ts';
import { isText } from '../query/filter.ts';

/** What JSON makes of the values of a scalar type. */
const scalarText = (type: ScalarType): string => fieldTypes[type].json.type;

/** The same, and the operators that a condition on them may have besides those of all. */
const comparedText = (type: ScalarType): string => (isText(type) ? 'string, Text' : scalarText(type));

const quoted = (name: string): string => JSON.stringify(name);

/** A name as TypeScript writes it in front of a colon. */
const property = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : quoted(name));

const objectOf = (lines: readonly string[]): string => `{ ${lines.join('; ')} }`;

const listText = (items: ValueType): string => (items.enum ? `(${valueText(items)})[]` : `${valueText(items)}[]`);

/** The type of a value. */
const valueText = (value: ValueType): string => {
  if (value.enum) return value.enum.map((allowed) => JSON.stringify(allowed)).join(' | ');
  if (isScalar(value.type)) return scalarText(value.type);
  if (value.type === 'Array') return value.items ? listText(value.items) : 'Json[]';
  return value.fields ? objectOf(value.fields.map(fieldText)) : 'JsonObject';
};

/** A field of an object that is read or written whole: what may be missing may also be `null`. */
export const fieldText = (field: Field): string =>
  field.required
    ? `${property(field.key)}: ${valueText(field)}`
    : `${property(field.key)}?: ${valueText(field)} | null | undefined`;

/**
 * A place in a document by the names on the way to it. Where any position or name may stand there is the type of them:
 * a position is a `bigint`, as `number` would match `0.1`, which is a position within a position.
 */
type Place = readonly (string | { readonly any: 'bigint' | 'string' })[];

const isPattern = (place: Place): boolean => place.some((segment) => typeof segment !== 'string');

/** A name as a template literal writes it. */
const literal = (name: string): string => quoted(name).slice(1, -1).replaceAll('`', '\\`').replaceAll('${', '\\${');

const segmentText = (segment: Place[number]): string =>
  typeof segment === 'string' ? literal(segment) : `\${${segment.any}}`;

/** A property of an object whose names are paths. */
const placed = (place: Place, type: string): string =>
  isPattern(place)
    ? `[path: \`${place.map(segmentText).join('.')}\`]: ${type} | undefined`
    : `${property(place.join('.'))}?: ${type} | undefined`;

const below = (place: Place, any: 'bigint' | 'string'): Place => [...place, { any }];

const changesInside = (value: ValueType, at: Place): readonly string[] => {
  if (value.type === 'Object' && !value.fields) return [placed(below(at, 'string'), 'Json')];
  if (value.type === 'Object') return (value.fields ?? []).flatMap((field) => changes(field, [...at, field.key]));
  if (value.type !== 'Array') return [];
  const element = below(at, 'bigint');
  if (!value.items) return [placed(below(at, 'string'), 'Json')];
  return [placed(element, valueText(value.items)), ...changesInside(value.items, element)];
};

const changes = (field: Field, at: Place): readonly string[] => [
  placed(at, field.required ? valueText(field) : `${valueText(field)} | null`),
  ...changesInside(field, at),
];

/** What an update may set at a field and inside it, one line a path. */
export const changeLines = (field: Field): readonly string[] => changes(field, [field.key]);

const refsIn = ({ ref, items, fields = [] }: ValueType, path: string): readonly (readonly [string, string])[] => {
  if (ref !== undefined) return [[path, ref]];
  if (items) return refsIn(items, path);
  return fields.flatMap((field) => refsIn(field, `${path}.${field.key}`));
};

/** The references in fields, one line a path, with the type of what each points at, by the name of its collection. */
export const refLines = (fields: readonly Field[], targetText: (collection: string) => string): readonly string[] =>
  fields
    .flatMap((field) => refsIn(field, field.key))
    .map(([path, collection]) => `${property(path)}: ${targetText(collection)}`);

/** What a condition may ask at a place: properties of an object, and types that hold besides it. */
interface Conditions {
  readonly lines: readonly string[];
  readonly besides: readonly string[];
}

const lines = (...of: readonly string[]): Conditions => ({ lines: of, besides: [] });

const joined = (parts: readonly Conditions[]): Conditions => ({
  lines: parts.flatMap((part) => part.lines),
  besides: parts.flatMap((part) => part.besides),
});

const anythingBelow = (at: Place): string => placed(below(at, 'string'), 'Scalar | Anything');

const pathText = (place: Place): string =>
  isPattern(place) ? `\`${place.map(segmentText).join('.')}\`` : quoted(place.join('.'));

const conditionsOfList = (items: ValueType | undefined, at: Place): Conditions => {
  if (!items) return lines(placed(at, 'Scalar | Anything'), anythingBelow(at));
  const element = below(at, 'bigint');
  if (isScalar(items.type)) {
    const condition = comparedText(items.type);
    return lines(placed(at, `Elements<${condition}>`), placed(element, `Is<${condition}>`));
  }
  const whole = lines(placed(at, 'Objects<AnyWhere>'));
  if (items.type === 'Array') return joined([whole, conditionsAt(items, element)]);
  if (!items.fields) return joined([whole, lines(anythingBelow(at))]);
  return { lines: [], besides: [`Of<${pathText(at)}, ${conditionsText(items.fields)}>`] };
};

const conditionsAt = (value: ValueType, at: Place): Conditions => {
  if (isScalar(value.type)) return lines(placed(at, `Is<${comparedText(value.type)}>`));
  if (value.type === 'Array') return conditionsOfList(value.items, at);
  if (!value.fields) return lines(placed(at, 'null | Presence'), anythingBelow(at));
  return { lines: [], besides: [`In<${pathText(at)}, ${conditionsText(value.fields)}>`] };
};

/** What a condition may ask of fields and inside them: a path each, those inside an object by its own type. */
export const conditionsText = (fields: readonly Field[], block = objectOf): string => {
  const all = joined(fields.map((field) => conditionsAt(field, [field.key])));
  return [block(all.lines), ...all.besides].join(' & ');
};
