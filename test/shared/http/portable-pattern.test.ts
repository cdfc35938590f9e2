import { expect, test } from 'vitest';
import { portablePattern } from '../../../shared/http/openapi/json-schema.ts';

test.each([
  ['^[a-z]+$', '^[a-z]+$'],
  ['^\\w+$', '^[A-Za-z0-9_]+$'],
  ['^[\\w.-]{1,3}\\/\\d$', '^[A-Za-z0-9_.-]{1,3}\\/[0-9]$'],
  ['^[^\\p{Cc}\\u2028]*$', '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028]*$'],
])('%s becomes %s', (source, expected) => {
  expect(portablePattern(source)).toBe(expected);
});

test.each(['^\\p{L}$', '[\\p{Script=Greek}]', '^\\P{Cc}$', 'a\\b', '\\s'])(
  '%s is rejected when it is not portable',
  (source) => {
    expect(() => portablePattern(source)).toThrow('portable-pattern.ts does not say what');
  },
);
