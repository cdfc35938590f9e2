import { describe, expect, test } from 'vitest';
import { boundedPattern, longestMatched } from '../../../../shared/documents/query/bounded-pattern.ts';

describe('longestMatched', () => {
  test.each([
    ['a pattern without repetitions', 'hello'],
    ['an optional character', 'colou?r'],
    ['an escaped asterisk', 'a\\*b\\*c'],
    ['an asterisk in a class', '[*+]x[]*+]'],
    ['a class of POSIX', '[[:alpha:]*]'],
    ['a property', '\\p{Lu}\\x{41}'],
    ['an exact count of a character', 'a{5}'],
    ['one repetition from the start', '^foo.*bar'],
    ['any characters at both ends', '.*foo.*'],
    ['any characters from start to end', '^.*foo.*$'],
  ])('any length for %s', (_what, pattern) => {
    expect(longestMatched(pattern)).toBe(Number.POSITIVE_INFINITY);
    expect(boundedPattern(pattern)).toBe(pattern);
  });

  test.each([
    [5000, 'one repetition', 'a*[bc]'],
    [5000, 'a lazy repetition', 'foo.*?bar'],
    [5000, 'a possessive repetition', 'foo.*+bar'],
    [5000, 'a bounded repetition', 'a{0,99}[bc]'],
    [300, 'a repeated group from the start', '^(a|aa)+$'],
    [300, 'an exact count of a group', '(?:ab|a){9}c'],
    [5000, 'one repetition of an alternative', '^a|b.*c'],
    [300, 'two repetitions', 'a*a*[bc]'],
    [300, 'two repetitions from the start', '^a*a*[bc]'],
    [100, 'a repeated repetition', '(a+)+$'],
    [300, 'a repetition and a reference to it', '(a*)\\1[bc]'],
    [100, 'three repetitions', 'a*a*a*[bc]'],
    [100, 'nested counts', '((a{1,9}){1,9}){1,9}b'],
  ])('%i for %s', (length, _what, pattern) => {
    expect(longestMatched(pattern)).toBe(length);
    expect(boundedPattern(pattern)).toBe(`\\A[\\s\\S]{${length + 1}}(*COMMIT)(*F)|${pattern}`);
  });
});
