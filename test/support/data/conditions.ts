import fc from 'fast-check';

/** Values of stored documents and conditions. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonRecord = { readonly [key: string]: Json };

const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The values at the end of a path; elements of arrays on the way count separately. */
const leaves = (value: Json | undefined, [key, ...rest]: readonly string[]): readonly (Json | undefined)[] => {
  if (key === undefined) return [value];
  if (Array.isArray(value)) return value.filter(isRecord).flatMap((element) => leaves(element, [key, ...rest]));
  return isRecord(value) ? leaves(value[key], rest) : [undefined];
};

type Value = Json | undefined;
const isOf = (operand: Json) => (value: Value) => (value ?? null) === operand;
const above = (a: Value, b: Value) =>
  a !== undefined && b !== undefined && a !== null && b !== null && typeof a === typeof b && a > b;
const textOf = (value: Value) => (typeof value === 'string' ? [value] : []);
const listOf = (operand: Value): readonly Json[] => (Array.isArray(operand) ? operand : []);

/** Each operator: for all values of a path (`found`), and with array elements, of which one is enough (`each`). */
const operators: Readonly<Record<string, (operand: Json, each: readonly Value[], found: readonly Value[]) => boolean>> =
  {
    $eq: (operand, each) => each.some(isOf(operand)),
    $ne: (operand, each) => !each.some(isOf(operand)),
    $gt: (operand, each) => each.some((value) => above(value, operand)),
    $gte: (operand, each) => each.some((value) => above(value, operand) || isOf(operand)(value)),
    $lt: (operand, each) => each.some((value) => above(operand, value)),
    $lte: (operand, each) => each.some((value) => above(operand, value) || isOf(operand)(value)),
    $in: (operand, each) => listOf(operand).some((one) => each.some(isOf(one))),
    $nin: (operand, each) => !listOf(operand).some((one) => each.some(isOf(one))),
    $all: (operand, each) => listOf(operand).length > 0 && listOf(operand).every((one) => each.some(isOf(one))),
    $exists: (operand, each) => each.some((value) => value !== undefined) === operand,
    $size: (operand, _each, found) => found.some((value) => Array.isArray(value) && value.length === operand),
    $regex: (operand, each) => each.flatMap(textOf).some((text) => new RegExp(String(operand), 'u').test(text)),
    $contains: (operand, each) => each.flatMap(textOf).some((text) => text.includes(String(operand))),
    $startsWith: (operand, each) => each.flatMap(textOf).some((text) => text.startsWith(String(operand))),
    $endsWith: (operand, each) => each.flatMap(textOf).some((text) => text.endsWith(String(operand))),
    $elemMatch: (operand, _each, found) => found.flatMap(listOf).some((element) => elementHolds(element, operand)),
  };

const elementHolds = (element: Json, condition: Json): boolean => {
  if (!isRecord(condition)) return false;
  if (!Object.keys(condition).every((key) => key in operators)) return isRecord(element) && holds(element, condition);
  return Object.entries(condition).every(([name, operand]) => operators[name]?.(operand, [element], [element]));
};

/** Evaluates a condition on a document: the rules of the contract in the simplest code. */
export const holds = (document: JsonRecord, condition: JsonRecord): boolean =>
  Object.entries(condition).every(([key, value]) => {
    if (key === '$not') return isRecord(value) && !holds(document, value);
    if (key === '$and') return listOf(value).every((member) => isRecord(member) && holds(document, member));
    if (key === '$or') return listOf(value).some((member) => isRecord(member) && holds(document, member));
    const found = leaves(document, key.split('.'));
    const each = found.flatMap((one) => (Array.isArray(one) ? [one, ...one] : [one]));
    const tests = isRecord(value) ? value : { $eq: value };
    return Object.entries(tests).every(([name, operand]) => operators[name]?.(operand, each, found));
  });

/** A small pool of values, so that conditions match documents. */
const numbers = fc.constantFrom(-3, 0, 1, 2.5, 7, 1e9);
const texts = fc.constantFrom('', 'a', 'b', 'ab', 'a.b', 'B', '5', 'true', '$x', '(a', 'a\n', 'é', 'a\\', '^a', 'null');
const dates = fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-02-01T12:00:00.500Z', '1999-12-31T23:59:59.999Z');
const ids = fc.constantFrom('a'.repeat(24), 'b'.repeat(24), `${'0'.repeat(23)}c`);
const patterns = fc.constantFrom('^a', 'b$', '.', 'a.b', '^$', '[ab]+', 'é', '\\\\', 'x|B');

/** A field, its values in documents, and values to compare with. */
interface Sampled {
  readonly key: string;
  readonly stored: fc.Arbitrary<Json>;
  readonly operand: fc.Arbitrary<Json>;
  readonly kind: 'text' | 'scalar' | 'list' | 'texts';
}

const maybe = (value: fc.Arbitrary<Json>): fc.Arbitrary<Json | undefined> =>
  fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constantFrom(null, undefined) });

const scalars: readonly Sampled[] = [
  { key: 'n', stored: numbers, operand: numbers, kind: 'scalar' },
  { key: 't', stored: texts, operand: texts, kind: 'text' },
  { key: 'b', stored: fc.boolean(), operand: fc.boolean(), kind: 'scalar' },
  { key: 'd', stored: dates, operand: dates, kind: 'scalar' },
  { key: 'r', stored: ids, operand: ids, kind: 'scalar' },
  { key: 'ns', stored: fc.array(numbers, { maxLength: 3 }), operand: numbers, kind: 'list' },
  { key: 'ts', stored: fc.array(texts, { maxLength: 3 }), operand: texts, kind: 'texts' },
];
const inner: readonly Sampled[] = [
  { key: 'k', stored: texts, operand: texts, kind: 'text' },
  { key: 'q', stored: numbers, operand: numbers, kind: 'scalar' },
];
const mixed = fc.oneof(numbers, texts, fc.boolean(), fc.constant(null));
/** Fields outside of the schema have any value. */
const free: Sampled = {
  key: 'free',
  stored: fc.oneof(mixed, fc.array(mixed, { maxLength: 3 }), fc.constant({ k: 1 }), fc.constant([[1, 2], [3]])),
  operand: mixed.filter((value) => value !== null),
  kind: 'texts',
};

const recordOf = (fields: readonly Sampled[]): fc.Arbitrary<JsonRecord> =>
  fc
    .record(Object.fromEntries(fields.map(({ key, stored }) => [key, maybe(stored)])))
    .map((record) => JSON.parse(JSON.stringify(record)) as JsonRecord);

/** The documents' schema; `free` is not in it. */
export const sampledSchema = [
  { key: 'n', type: 'Number' },
  { key: 't', type: 'String' },
  { key: 'b', type: 'Boolean' },
  { key: 'd', type: 'Date' },
  { key: 'r', type: 'Ref', ref: 'others' },
  { key: 'ns', type: 'Array', items: { type: 'Number' } },
  { key: 'ts', type: 'Array', items: { type: 'String' } },
  {
    key: 'o',
    type: 'Object',
    fields: [
      { key: 'k', type: 'String' },
      { key: 'q', type: 'Number' },
    ],
  },
  {
    key: 'os',
    type: 'Array',
    items: {
      type: 'Object',
      fields: [
        { key: 'k', type: 'String' },
        { key: 'q', type: 'Number' },
      ],
    },
  },
];

/** A document of that schema, with `free`. */
export const documents: fc.Arbitrary<JsonRecord> = fc
  .tuple(recordOf([...scalars, free]), recordOf(inner), fc.array(recordOf(inner), { maxLength: 3 }))
  .map(([own, o, os]) => ({ ...own, o, os }));

const tests = ({ operand, kind }: Sampled, withNull: boolean): fc.Arbitrary<JsonRecord> => {
  const value = withNull ? maybe(operand).map((one) => one ?? null) : operand;
  const list = fc.array(value, { maxLength: 3 });
  const bounds = operand.filter((one) => one !== null);
  const text: Readonly<Record<string, fc.Arbitrary<Json>>> = kind.startsWith('text')
    ? { $regex: patterns, $contains: texts, $startsWith: texts, $endsWith: texts }
    : {};
  const possible: Readonly<Record<string, fc.Arbitrary<Json>>> = {
    ...{ $eq: value, $ne: value, $gt: bounds, $gte: bounds, $lt: bounds, $lte: bounds },
    ...{ $in: list, $nin: list, $all: list, $exists: fc.boolean() },
    ...text,
    ...(kind === 'list' || kind === 'texts' ? { $size: fc.nat(3) } : {}),
  };
  return fc
    .subarray(Object.keys(possible), { minLength: 1, maxLength: 3 })
    .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, possible[name] ?? value]))));
};

/** Removes operators that do not look at array elements. */
const elementTests = (field: Sampled): fc.Arbitrary<JsonRecord> =>
  tests(field, false)
    .map(({ $size: _size, ...rest }) => rest as JsonRecord)
    .filter((rest) => Object.keys(rest).length > 0);

const ofField = (field: Sampled, prefix = '', withNull = true): fc.Arbitrary<JsonRecord> =>
  fc.oneof(
    field.operand.map((value) => ({ [prefix + field.key]: value })),
    tests(field, withNull).map((value) => ({ [prefix + field.key]: value })),
    ...(field.kind === 'list' || field.kind === 'texts'
      ? [elementTests(field).map(($elemMatch) => ({ [prefix + field.key]: { $elemMatch } }))]
      : []),
  );

const combined = (leaf: fc.Arbitrary<JsonRecord>): fc.Arbitrary<JsonRecord> =>
  fc.letrec<{ condition: JsonRecord }>((tie) => ({
    condition: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.tuple(leaf, leaf).map(([one, other]) => ({ ...one, ...other })),
      fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map(($or) => ({ $or })),
      fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map(($and) => ({ $and })),
      fc.tuple(leaf, tie('condition')).map(([one, $not]) => ({ ...one, $not })),
    ),
  })).condition;

/** The contract does not define `null` behind an empty list, so there is none. */
const leaf: fc.Arbitrary<JsonRecord> = fc.oneof(
  ...[...scalars, free].map((field) => ofField(field)),
  ...inner.map((field) => ofField(field, 'o.')),
  ...inner.map((field) => ofField(field, 'os.', false)),
  combined(fc.oneof(...inner.map((field) => ofField(field)))).map(($elemMatch) => ({ os: { $elemMatch } })),
  combined(fc.oneof(...inner.map((field) => ofField(field)))).map(($elemMatch) => ({ os: { $elemMatch } })),
);

/** A nested `where` condition with every operator. */
export const conditions: fc.Arbitrary<JsonRecord> = combined(leaf);
