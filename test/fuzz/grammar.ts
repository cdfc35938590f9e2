import fc from 'fast-check';
import { strange, text } from '../support/data/fuzz-values.ts';

/** An id of a document or an account. */
export const id = fc.constantFrom('a'.repeat(24), 'f'.repeat(24), '0123456789abcdef01234567');

/** What may be done to a text that its grammar made: at a place, with a length, with another text. */
const change = fc.record({
  kind: fc.constantFrom('insert', 'delete', 'repeat', 'swap', 'flip'),
  at: fc.nat(1_000_000),
  length: fc.nat(12),
  more: strange,
  times: fc.constantFrom(1, 2, 30, 6000),
});

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

const maxLength = 60_000;

const changedBy = (whole: string, { kind, at, length, more, times }: Change): string => {
  const start = at % (whole.length + 1);
  const [before, piece, after] = [
    whole.slice(0, start),
    whole.slice(start, start + length),
    whole.slice(start + length),
  ];
  if (kind === 'insert') return before + more + piece + after;
  if (kind === 'delete') return before + after;
  if (kind === 'swap') return before + after.slice(0, length) + piece + after.slice(length);
  if (kind === 'repeat') return `${before}${piece.repeat(times)}${after}`.slice(0, maxLength);
  return `${before}${String.fromCharCode((piece.charCodeAt(0) || 0) ^ (1 << (length % 8)))}${piece.slice(1)}${after}`;
};

/** Texts of a grammar: half of them as they are, the others with up to three changes. */
export const mutated = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(texts, fc.oneof(fc.constant([]), fc.array(change, { minLength: 1, maxLength: 3 })))
    .map(([made, changes]) => changes.reduce(changedBy, made));

const number = fc.constantFrom('0', '-0', '1', '-7', '1.5e-3', '1E5', '9007199254740993', '1e400', '0.1', '01', '1.');
const quoted = text.map((each) => JSON.stringify(each));
const escaped = fc.constantFrom(
  '"\\u0000"',
  '"\\ud800"',
  '"\\u005f_proto__"',
  '"\\/"',
  '"\\x"',
  '"\t"',
  '"__proto__"',
  '"_bsontype"',
);
const space = fc.constantFrom('', '', ' ', '\n\t', '\u00a0', '\ufeff');

/** JSON texts, with the mistakes that people and attackers make. */
export const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'json' },
    fc.oneof(number, quoted, escaped, fc.constantFrom('true', 'false', 'null')),
    fc.tuple(fc.array(tie('json'), { maxLength: 4 }), space).map(([all, gap]) => `[${all.join(`,${gap}`)}]`),
    fc
      .tuple(fc.array(fc.tuple(fc.oneof(quoted, escaped), tie('json')), { maxLength: 4 }), space)
      .map(([all, gap]) => `{${all.map(([key, value]) => `${key}:${gap}${value}`).join(',')}}`),
    fc
      .tuple(tie('json'), fc.constantFrom(3, 70))
      .map(([value, depth]) => '['.repeat(depth) + value + ']'.repeat(depth)),
  ),
}));

const token = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/g;
const replacements = [
  'null',
  '1',
  '-1',
  '1.5',
  '""',
  '"$where"',
  '"__proto__"',
  '[]',
  '{}',
  '{"$ne":1}',
  '{"__proto__":{"a":1}}',
  '[[1]]',
  'true',
  '"constructor"',
  '"a.b"',
  '"\\u0000"',
  '"x"',
];

const withReplaced = (value: unknown, places: readonly (readonly [number, string])[]): unknown => {
  let whole = JSON.stringify(value);
  for (const [place, by] of places) {
    const tokens = [...whole.matchAll(token)];
    const found = tokens[place % tokens.length];
    if (!found) continue;
    const next = whole.slice(0, found.index) + by + whole.slice(found.index + found[0].length);
    // A key can only be replaced by a text.
    whole = isJson(next) ? next : whole;
  }
  return JSON.parse(whole);
};

const isJson = (whole: string): boolean => {
  try {
    JSON.parse(whole);
    return true;
  } catch {
    return false;
  }
};

/** JSON values of a grammar, with up to three keys or values replaced. */
export const mutatedValue = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      values,
      fc.oneof(
        fc.constant([]),
        fc.array(fc.tuple(fc.nat(10_000), fc.constantFrom(...replacements)), { minLength: 1, maxLength: 3 }),
      ),
    )
    .map(([value, places]) => withReplaced(value, places));

/** Joins alternatives to a text: `['a', number, 'b']`. */
export const sequence = (...parts: readonly (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
  fc.tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part))).map((all) => all.join(''));

export const optional = (part: fc.Arbitrary<string>): fc.Arbitrary<string> => fc.oneof(fc.constant(''), part);

export const listOf = (part: fc.Arbitrary<string>, separator: string, maxCount = 4): fc.Arbitrary<string> =>
  fc.array(part, { minLength: 1, maxLength: maxCount }).map((all) => all.join(separator));
