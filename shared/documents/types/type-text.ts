import type { Field, ValueType } from '../../collections/collection.ts';
import { isScalar, type ScalarType } from '../../collections/schema/field-types.ts';
import { isPosition } from '../read/field-at.ts';

/** What JSON makes of the values of a scalar type, and the operators that a condition on them may have. */
const scalars: Readonly<Record<ScalarType, { readonly value: string; readonly condition: string }>> = {
  String: { value: 'string', condition: 'string, Text' },
  Number: { value: 'number', condition: 'number' },
  Boolean: { value: 'boolean', condition: 'boolean' },
  Date: { value: 'string', condition: 'string' },
  Ref: { value: 'string', condition: 'string' },
};

/** A name as TypeScript writes it in front of a colon. */
const quoted = (name: string): string => JSON.stringify(name);

const objectOf = (lines: readonly string[]): string => `{ ${lines.join('; ')} }`;

/** The type of a value. */
export const valueText = (value: ValueType): string => {
  if (isScalar(value.type)) return scalars[value.type].value;
  if (value.type === 'Array') return value.items ? `(${valueText(value.items)})[]` : 'Json[]';
  return value.fields ? objectOf(value.fields.map(fieldText)) : 'JsonObject';
};

/** A field of an object that is read or written whole: what may be missing may also be `null`. */
export const fieldText = (field: Field): string =>
  field.required
    ? `${quoted(field.key)}: ${valueText(field)}`
    : `${quoted(field.key)}?: ${valueText(field)} | null | undefined`;

/**
 * A place in a document by the names on the way to it. Where any position or name may stand there is the type of them: a
 * position is a `bigint`, as `number` would match `0.1`, which is a position within a position.
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
    : `${quoted(place.join('.'))}?: ${type} | undefined`;

const below = (place: Place, any: 'bigint' | 'string'): Place => [...place, { any }];

const changesInside = (value: ValueType, at: Place): readonly string[] => {
  if (value.type === 'Object' && !value.fields) return [placed(below(at, 'string'), 'Json')];
  if (value.type === 'Object') return (value.fields ?? []).flatMap((field) => changes(field, [...at, field.key]));
  if (value.type !== 'Array') return [];
  const element = below(at, 'bigint');
  if (!value.items) return [placed(below(at, 'string'), 'Json')];
  return [placed(element, `${valueText(value.items)}`), ...changesInside(value.items, element)];
};

const changes = (field: Field, at: Place): readonly string[] => [
  placed(at, `${valueText(field)}${field.required ? '' : ' | null'}`),
  ...changesInside(field, at),
];

/** What an update may set at a field and inside it, one line a path. */
export const changeLines = (field: Field): readonly string[] => changes(field, [field.key]);

const elementsCondition = (items: ValueType | undefined): string => {
  if (!items) return 'Scalar | Anything';
  if (isScalar(items.type)) return `Elements<${scalars[items.type].condition}>`;
  if (items.type === 'Object' && items.fields) return `Objects<${objectOf(items.fields.flatMap(conditionLines))}>`;
  return 'Objects<AnyWhere>';
};

const conditionOf = (value: ValueType): string => {
  if (isScalar(value.type)) return `Is<${scalars[value.type].condition}>`;
  return value.type === 'Array' ? elementsCondition(value.items) : 'null | Presence';
};

/** Sub-fields of elements are reached without a position too; a name that is one is read as one. */
const conditionsStraight = ({ type, fields = [] }: ValueType, at: Place): readonly string[] =>
  type === 'Object'
    ? fields.filter(({ key }) => !isPosition(key)).flatMap((field) => conditions(field, [...at, field.key]))
    : [];

const conditionsInside = (value: ValueType, at: Place): readonly string[] => {
  if (value.type === 'Array') {
    const { items } = value;
    if (!items) return [placed(below(at, 'string'), 'Scalar | Anything')];
    const element = below(at, 'bigint');
    return [
      placed(element, `${conditionOf(items)}`),
      ...conditionsInside(items, element),
      ...conditionsStraight(items, at),
    ];
  }
  if (value.type !== 'Object') return [];
  if (!value.fields) return [placed(below(at, 'string'), 'Scalar | Anything')];
  return value.fields.flatMap((field) => conditions(field, [...at, field.key]));
};

const conditions = (field: Field, at: Place): readonly string[] => [
  placed(at, `${conditionOf(field)}`),
  ...conditionsInside(field, at),
];

/** What a condition may ask of a field and inside it, one line a path. */
export const conditionLines = (field: Field): readonly string[] => conditions(field, [field.key]);
