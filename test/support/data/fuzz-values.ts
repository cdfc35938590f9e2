import fc from 'fast-check';

/** The seed; a failure prints it with the path to its smallest case. `FUZZ_SEED` sets another. */
export const seed = Number(process.env.FUZZ_SEED ?? 20_261_121);

const usualRuns = 40;
/** Cases per property, with several requests each; `FUZZ_RUNS` sets more. */
export const runs = Number(process.env.FUZZ_RUNS ?? usualRuns);
/** Timeout of one property. */
export const limitMs = 60_000 * Math.max(1, runs / usualRuns);

/** Texts with a special meaning somewhere. */
export const strange = fc.constantFrom(
  ...[
    '',
    ' ',
    '0',
    '-1',
    '1e400',
    'null',
    'true',
    'NaN',
    '$',
    '$ne',
    '$$ROOT',
    '$where',
    '.',
    '..',
    'a..b',
    '\0',
    '\u2028',
  ],
  ...[
    '__proto__',
    'constructor',
    '_bsontype',
    'toJSON',
    'é',
    '😀',
    '(',
    '[',
    '\\',
    ',',
    '%',
    '2026-01-01',
    '9007199254740993',
  ],
  ...['f'.repeat(24), 'a'.repeat(200)],
);
export const text = fc.oneof(strange, fc.string({ maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 8 }));
const segment = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'a',
      'b',
      'tags',
      'meta',
      'score',
      'source',
      'comments',
      'text',
      'author',
      'readers',
      'title',
      'views',
      'task',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '0',
      '1',
      '2',
      '01',
      '-1',
      '99999',
      '99999999999',
      '_id',
      'userId',
      'isDeleted',
      'createdAt',
      '$',
      '$[]',
      '$[x]',
    ),
  },
  { weight: 1, arbitrary: strange },
);
export const dotted = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));
export const key = fc.oneof(dotted, text);

const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -0, 1, 1e21, 5e-324, 2 ** 53, 2 ** 31));

/** Values of every kind, some of them from `ids`: `value` is any JSON, `object` also has special field names. */
export const valuesWith = (ids: fc.Arbitrary<string>) => {
  const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null), ids);
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  const object = fc.dictionary(key, value, { maxKeys: 5, noNullPrototype: true });
  return { scalar, value, object };
};

/** A valid body with one changed field and additional ones, or any value. */
export const changed = (
  sample: unknown,
  value: fc.Arbitrary<unknown>,
  object: fc.Arbitrary<Record<string, unknown>>,
): fc.Arbitrary<unknown> =>
  typeof sample === 'object' && sample !== null && !Array.isArray(sample)
    ? fc
        .tuple(fc.constantFrom(...Object.keys(sample)), value, object)
        .map(([name, of, more]) => ({ ...sample, ...more, [name]: of }))
    : value;
