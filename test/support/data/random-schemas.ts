import fc from 'fast-check';
import type { Field, ValueType } from '../../../shared/collections/collection.ts';
import { parseSchema } from '../../../shared/collections/schema/schema.ts';

/** Names with a special meaning in TypeScript, template literals or paths. */
const oddNames = [
  ...['a`b', `$\{x}`, '\\', '"', "'", '*/', '//', '\n', ' ', '\u2028', 'é', '日本', '🎉', '\u0001', '#', '@ts-ignore'],
  ...[
    '0',
    '5',
    '-5',
    '0x10',
    '1e3',
    '01',
    '1_000',
    'length',
    'class',
    'readonly',
    'new',
    '$exists'.slice(1),
    'toString',
  ],
  ...['hasOwnProperty', 'then', 'keyof', 'never', 'x'.repeat(64)],
];

const name = fc.oneof(
  { weight: 3, arbitrary: fc.stringMatching(/^[a-z]{1,6}$/) },
  { weight: 2, arbitrary: fc.constantFrom(...oddNames) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }) },
);

const scalar = fc.constantFrom(
  { type: 'String', enum: ['a', `$\{x}\``, 'b"\\'], maxLength: 40 },
  { type: 'Number', enum: [1.5, -0, 1e21], min: -1 },
  { type: 'String', pattern: '^[a-f]+$', format: 'email' },
  { type: 'String' },
  { type: 'Number' },
  { type: 'Boolean' },
  { type: 'Date' },
);

const { fields } = fc.letrec<{ value: object; fields: object[] }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 6 },
    scalar,
    fc.constant({ type: 'Ref', ref: 'others' }),
    fc.constantFrom({ type: 'Object' }, { type: 'Array' }),
    tie('value').map((items) => ({ type: 'Array', items })),
    tie('fields').map((inner) => ({ type: 'Object', fields: inner })),
  ),
  fields: fc.uniqueArray(
    fc
      .tuple(name, fc.boolean(), tie('value'))
      .map(([key, required, value]) => ({ key, required, ...(value as object) })),
    { minLength: 1, maxLength: 6, selector: ({ key }) => key },
  ),
}));

const parsed = (schema: unknown): readonly Field[] | undefined => {
  try {
    return parseSchema(schema) ?? undefined;
  } catch {
    return undefined;
  }
};

/** Valid schemas, the same each time. */
export const randomSchemas = (count: number): readonly (readonly Field[])[] =>
  fc.sample(
    fields.map(parsed).filter((schema) => schema !== undefined),
    { numRuns: count, seed: 17 },
  );

const inside = ({ type, items, fields: inner, enum: [allowed] = [] }: ValueType): unknown => {
  if (allowed !== undefined) return allowed;
  if (type === 'Number') return 1.5;
  if (type === 'Boolean') return true;
  if (type === 'Array') return items ? [inside(items), inside(items)] : [1, 'a', null, { b: [] }];
  if (type === 'Object') return inner ? sampleOf(inner) : { any: { thing: [1] } };
  return 'f'.repeat(24);
};

/** A document that matches a schema. */
export const sampleOf = (schema: readonly Field[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(schema.map((field, at) => [field.key, field.required || at % 2 === 0 ? inside(field) : null]));
