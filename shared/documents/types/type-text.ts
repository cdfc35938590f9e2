import type { Collection, Field, ValueType } from '../../collections/collection.ts';
import { effectFields } from '../../collections/effects/effect.ts';
import { rightsOf } from '../../collections/schema/field-rights.ts';
import { fieldTypes, isScalar, type ScalarType } from '../../collections/schema/field-types.ts';
import type { KeyKind } from '../../projects/project.ts';
import { isText } from '../query/filter.ts';

/** The JSON type of a scalar type. */
const scalarText = (type: ScalarType): string => fieldTypes[type].json.type;

/** The same, with the operators that its conditions have beyond the common ones. */
const comparedText = (type: ScalarType): string => (isText(type) ? 'string, Text' : scalarText(type));

const quoted = (name: string): string => JSON.stringify(name);

const property = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : quoted(name));

const objectOf = (lines: readonly string[]): string => `{ ${lines.join('; ')} }`;

const listText = (items: ValueType): string => (items.enum ? `(${valueText(items)})[]` : `${valueText(items)}[]`);

const valueText = (value: ValueType): string => {
  if (value.enum) return value.enum.map((allowed) => JSON.stringify(allowed)).join(' | ');
  if (isScalar(value.type)) return scalarText(value.type);
  if (value.type === 'Array') return value.items ? listText(value.items) : 'Json[]';
  return value.fields ? objectOf(value.fields.map(fieldText)) : 'JsonObject';
};

/** A field of an object that is read or written whole. An optional one may also be `null`. */
export const fieldText = (field: Field): string =>
  field.required
    ? `${property(field.key)}: ${valueText(field)}`
    : `${property(field.key)}?: ${valueText(field)} | null | undefined`;

/**
 * A path in a document as a list of names. Where any position or name is possible, it is the type of that: `bigint`
 * for positions, because `number` would match `0.1`, a position inside a position.
 */
type Place = readonly (string | { readonly any: 'bigint' | 'string' })[];

const isPattern = (place: Place): boolean => place.some((segment) => typeof segment !== 'string');

/** A name in a template literal. */
const literal = (name: string): string => quoted(name).slice(1, -1).replaceAll('`', '\\`').replaceAll('${', '\\${');

const segmentText = (segment: Place[number]): string =>
  typeof segment === 'string' ? literal(segment) : `\${${segment.any}}`;

/** A property whose name is a path. */
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

/** What an update can set at a field and inside it, one line per path. */
export const changeLines = (field: Field): readonly string[] => changes(field, [field.key]);

const refsIn = ({ ref, items, fields = [] }: ValueType, path: string): readonly (readonly [string, string])[] => {
  if (ref !== undefined) return [[path, ref]];
  if (items) return refsIn(items, path);
  return fields.flatMap((field) => refsIn(field, `${path}.${field.key}`));
};

/** The references in fields, one line per path, with the type of the target by the name of its collection. */
export const refLines = (fields: readonly Field[], targetText: (collection: string) => string): readonly string[] =>
  fields
    .flatMap((field) => refsIn(field, field.key))
    .map(([path, collection]) => `${property(path)}: ${targetText(collection)}`);

/** The conditions at a path: properties of an object, and types that also apply. */
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

/** The conditions on fields and inside them: one path each, those inside an object in a type of their own. */
export const conditionsText = (fields: readonly Field[], block = objectOf): string => {
  const all = joined(fields.map((field) => conditionsAt(field, [field.key])));
  return [block(all.lines), ...all.besides].join(' & ');
};

/** What a description of fields is for. */
type Use = 'read' | 'insert' | 'update';

const isAbsent = ({ write, read }: Field, use: Use): boolean => (use === 'read' ? read : write) === 'server';

const isOptional = ({ read, write, default: fallback }: Field, use: Use): boolean =>
  use === 'read' ? read !== undefined && read !== true : write === 'server' && fallback !== undefined;

const inside = <T extends ValueType>(value: T, keyKind: KeyKind, use: Use): T => ({
  ...value,
  ...(value.items && { items: inside(value.items, keyKind, use) }),
  ...(value.fields && { fields: narrowed(value.fields, keyKind, use) }),
});

const narrowed = (fields: readonly Field[], keyKind: KeyKind, use: Use): readonly Field[] =>
  fields
    .filter((field) => keyKind === 'secret' || !isAbsent(field, use))
    .map((field) => {
      const isOpen = use === 'read' ? keyKind === 'publishable' && isOptional(field, use) : isOptional(field, use);
      return inside(isOpen ? { ...field, required: false } : field, keyKind, use);
    });

/**
 * The fields for a key: without those that only the server reads or sets if it is a publishable key, and optional if
 * they may be missing.
 */
export const fieldsFor = (
  collection: Pick<Collection, 'schema' | 'effects'>,
  fields: readonly Field[],
  keyKind: KeyKind,
  use: Use,
): readonly Field[] => {
  const { written, read } = rightsOf(collection);
  if ((use === 'read' ? read : written).length === 0) return fields;
  const computed = effectFields(collection);
  // Effects overwrite what a body contains.
  const marked = fields.map((field) =>
    use !== 'read' && computed.has(field.key) ? { ...field, write: 'server' as const, required: false } : field,
  );
  return narrowed(marked, keyKind, use);
};
