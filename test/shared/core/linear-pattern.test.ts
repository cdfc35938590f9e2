import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linearPattern, patternProblem } from '../../../shared/core/linear-pattern.ts';

const patterns = [
  'abc',
  '^abc$',
  'a|b|^c$',
  '^(?:ab)*$',
  '^(a|b)?c{2,4}$',
  '^[^a-c]+$',
  '^\\w+@\\w+\\.\\w{2,}$',
  '\\bcat\\b',
  '\\Bcat',
  '^\\d{3}-\\d{4}$',
  '^[\\d.-]+$',
  '^.{2,3}$',
  '\\s\\S',
  '^\\u{1F600}$',
  '^\\uD83D\\uDE00+$',
  '^(?<year>\\d\\d)/(\\x41|\\u0042)$',
  '^(a*)*$',
  '(a+)+$',
  '^$',
  'a{0}b',
  '^[a\\-z\\]]+$',
  '[\\b]',
  '(|a)(b|)c',
  '^a??b+?$',
  '[^\\W_]x',
];
const pieces = [
  'a',
  'b',
  'c',
  'cat',
  'x',
  '_',
  '-',
  '.',
  '@',
  '1',
  '23',
  '456',
  ' ',
  '\n',
  '\u2028',
  '😀',
  'é',
  'Z',
  ']',
  '/',
  'AB',
  '\b',
];

describe('a pattern that is matched in linear time', () => {
  it.each(patterns)('%s matches what JavaScript matches', (source) => {
    expect(patternProblem(source)).toBeUndefined();
    const ours = linearPattern(source);
    const theirs = new RegExp(source, 'u');
    void fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 8 }), (parts) => {
        const text = parts.join('');
        expect(ours.test(text), JSON.stringify(text)).toBe(theirs.test(text));
      }),
      { numRuns: 400 },
    );
  });

  it('agrees with JavaScript for random patterns', () => {
    const { source } = fc.letrec<{ source: string; atom: string }>((tie) => ({
      atom: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', '^', '$', '\\b', 'c', '😀'),
        tie('source').map((inner) => `(${inner})`),
      ),
      source: fc.oneof(
        { maxDepth: 3 },
        tie('atom'),
        fc.tuple(tie('source'), tie('source')).map(([one, other]) => one + other),
        fc.tuple(tie('source'), tie('source')).map(([one, other]) => `${one}|${other}`),
        fc
          .tuple(tie('source'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0,1}'))
          .map(([one, many]) => `(?:${one})${many}`),
      ),
    }));
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', '1', ' ', '😀', '\n'), { maxLength: 7 })
      .map((parts) => parts.join(''));
    void fc.assert(
      fc.property(source, fc.array(text, { minLength: 5, maxLength: 10 }), (pattern, texts) => {
        fc.pre(patternProblem(pattern) === undefined);
        for (const each of texts)
          expect(linearPattern(pattern).test(each), each).toBe(new RegExp(pattern, 'u').test(each));
      }),
      { numRuns: 500 },
    );
  });

  it('takes as many steps as a text has characters when backtracking would never end', () => {
    const bomb = linearPattern('^(a+)+$');
    const text = `${'a'.repeat(4_000_000)}!`;
    expect(bomb.test(text)).toBe(false);
    expect(linearPattern('a*b').test(text)).toBe(false);
  });

  it.each([
    ['(', 'is not a valid regular expression'],
    ['a{2,1}', 'is not a valid regular expression'],
    ['\\-', 'is not a valid regular expression'],
    ['(?=a)', 'look ahead'],
    ['(?!a)', 'look ahead'],
    ['(?<=a)', 'look behind'],
    ['(?<!a)', 'look behind'],
    ['(?i:a)', 'look ahead or a flag'],
    ['(a)\\1', 'reference'],
    ['(?<n>a)\\k<n>', 'reference'],
    ['\\p{L}', '\\p'],
    ['\\uD83D', 'surrogate'],
    ['a{1000}', 'too many repetitions'],
    ['(((){99999}){99999}){99999}', 'too many repetitions'],
    ['(a|b)*a(a|b){20}', 'too many repetitions'],
    ['((a{1,100}){1,100}){1,100}', 'too many repetitions'],
  ])('rejects %s', (source, reason) => {
    expect(patternProblem(source)).toContain(reason);
  });

  it('is written for MongoDB with the meaning of JavaScript', () => {
    expect(linearPattern('^\\d|a$').pcre).toBe('(?:\\A[\\x{30}-\\x{39}]|[\\x{61}-\\x{61}]\\z)');
  });
});
