import { describe, expect, test } from 'vitest';
import { comparableJson } from '../../../shared/core/json.ts';

describe('comparableJson', () => {
  test.each([
    ['{"b":1,"a":2}', '{"a":2,"b":1}'],
    [' [ 1 , 2 ] ', '[1,2]'],
    ['{"a":{"y":[{"d":1,"c":2}],"x":null}}', '{"a":{"x":null,"y":[{"c":2,"d":1}]}}'],
    ['"\\u0041"', '"A"'],
    ['{"1":1,"0":0,"__proto__":{"b":1,"a":2}}', '{"0":0,"1":1,"__proto__":{"a":2,"b":1}}'],
  ])('returns the same text for %s as for %s', (one, other) => {
    expect(comparableJson(one)).toBe(comparableJson(other));
  });

  test.each([
    ['{"a":1}', '{"a":"1"}'],
    ['[1,2]', '[2,1]'],
    ['{"a":null}', '{}'],
    ['{"a":{"b":1}}', '{"a.b":1}'],
    ['[]', '{}'],
  ])('returns another text for %s than for %s', (one, other) => {
    expect(comparableJson(one)).not.toBe(comparableJson(other));
  });

  test('returns a text unchanged when it is not JSON or is too deep', () => {
    for (const text of ['', '{', 'a', `${'['.repeat(100_000)}${']'.repeat(100_000)}`]) {
      expect(comparableJson(text)).toBe(text);
    }
  });
});
