import { describe, expect, test } from 'vitest';
import { AppError } from '../../../../shared/core/errors.ts';
import { parseJsonBody } from '../../../../shared/http/middleware/input.ts';

const codeOf = (text: string | undefined): string => {
  try {
    parseJsonBody(text, false);
    return 'accepted';
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
};

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('a request body', () => {
  test.each<[string, string | undefined, string]>([
    ['missing', undefined, 'INVALID_BODY'],
    ['of white space', ' \n', 'INVALID_BODY'],
    ['that is not JSON', '{a:1}', 'INVALID_JSON'],
    ['cut in the middle', '{"a":', 'INVALID_JSON'],
    ['with a lone surrogate in a string', '{"a":"\\ud800"}', 'INVALID_BODY'],
    ['with a lone surrogate in a field name', '{"\\ud800":1}', 'INVALID_BODY'],
    ['with NUL in a field name', '{"a\\u0000b":1}', 'INVALID_BODY'],
    ['with __proto__', '{"__proto__":{"a":1}}', 'INVALID_BODY'],
    ['with __proto__ deep inside', '{"a":[{"b":{"__proto__":null}}]}', 'INVALID_BODY'],
    ['with constructor and prototype inside', '{"a":{"constructor":{"prototype":1}}}', 'INVALID_BODY'],
    ['with _bsontype', '{"a":{"_bsontype":"ObjectId"}}', 'INVALID_BODY'],
    ['with a number that is not finite', '{"a":1e400}', 'INVALID_BODY'],
    ['with 2^53', '{"a":9007199254740992}', 'NUMBER_NOT_EXACT'],
    ['with -2^53-1', '[-9007199254740993]', 'NUMBER_NOT_EXACT'],
    ['with 65 levels', nested(65), 'INVALID_BODY'],
    ['with 100 000 levels', nested(100_000), 'INVALID_BODY'],
    ['over 1 MiB', JSON.stringify('a'.repeat(1024 * 1024)), 'BODY_TOO_LARGE'],
    ['over 1 MiB in bytes, though not in characters', JSON.stringify('é'.repeat(600_000)), 'BODY_TOO_LARGE'],
  ])('%s is rejected', (_what, text, code) => {
    expect(codeOf(text)).toBe(code);
  });

  test.each<[string, string, unknown]>([
    ['the largest exact integers', '[9007199254740991,-9007199254740991]', [9007199254740991, -9007199254740991]],
    [
      'a large number that is not written as an integer',
      '[1e20,12345678901234567890.5]',
      [1e20, Number('12345678901234567890.5')],
    ],
    ['sixteen digits in a string', '["12345678901234567890"]', ['12345678901234567890']],
    ['64 levels', nested(64), JSON.parse(nested(64))],
    ['U+2028, NUL in a string, and an escaped pair', '["\\u2028","\\u0000","\\ud83d\\ude00"]', ['\u2028', '\0', '😀']],
    ['constructor and prototype as names', '{"constructor":1,"prototype":2}', { constructor: 1, prototype: 2 }],
    ['duplicate names: the last one counts', '{"a":1,"a":2}', { a: 2 }],
    ['a body of exactly 1 MiB', JSON.stringify('a'.repeat(1024 * 1024 - 2)), 'a'.repeat(1024 * 1024 - 2)],
  ])('with %s is accepted unchanged', (_what, text, value) => {
    expect(parseJsonBody(text, false)).toEqual(value);
  });

  test('400 INVALID_JSON when the bytes are not UTF-8', () => {
    const latin1 = Buffer.from('{"a":"ü"}', 'latin1').toString('base64');
    expect(() => parseJsonBody(latin1, true)).toThrow(expect.objectContaining({ code: 'INVALID_JSON' }));
  });

  test('400 INVALID_JSON when the gateway has replaced bytes that are not UTF-8', () => {
    const bytes = Buffer.from('{"a":"ü"}', 'latin1');
    const decoded = (sentBytes: string) => parseJsonBody(bytes.toString(), false, undefined, sentBytes);
    expect(() => decoded(String(bytes.length))).toThrow(expect.objectContaining({ code: 'INVALID_JSON' }));
    expect(decoded(String(Buffer.byteLength(bytes.toString())))).toEqual({ a: '\u{FFFD}' });
  });

  test('is decoded when the gateway encoded it', () => {
    expect(parseJsonBody(Buffer.from('{"a":"ü"}').toString('base64'), true)).toEqual({ a: 'ü' });
  });

  test('does not change any prototype', () => {
    codeOf('{"__proto__":{"polluted":true}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

test.each([
  ['{"a":1', 'The body is not valid JSON from character 7 on.'],
  ['{"a":"\u00e9" "b"}', 'The body is not valid JSON from character 10 on.'],
  ['{"a":', 'The body is not valid JSON: it ends too early.'],
  ['{"password":hunter2}', 'The body is not valid JSON.'],
  ['{"a": in JSON at position 3}', 'The body is not valid JSON.'],
])(
  'the error for a body that is not JSON (%s) names the position, if known, and never quotes the body',
  (text, message) => {
    expect(() => parseJsonBody(text, false)).toThrow(new AppError('INVALID_JSON', message));
  },
);
