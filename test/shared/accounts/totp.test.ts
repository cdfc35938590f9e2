import { describe, expect, test } from 'vitest';
import { base32, codeAt, otpauthUri, stepOf } from '../../../shared/accounts/second-factor.ts';

const secret = Buffer.from('12345678901234567890');

describe('a code by time', () => {
  // RFC 6238, appendix B, last six digits.
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at %i is %s', (seconds, code) => {
    expect(codeAt(secret, Math.floor(seconds / 30))).toBe(code);
    expect(stepOf(secret, code, seconds)).toBe(Math.floor(seconds / 30));
  });

  test('is valid one step before and after, and no further', () => {
    const step = 40_000_000;
    const good = [-2, -1, 0, 1, 2].map((off) => stepOf(secret, codeAt(secret, step + off), step * 30));
    expect(good).toEqual([undefined, step - 1, step, step + 1, undefined]);
  });

  test('is invalid for an accepted step and earlier ones', () => {
    const step = 40_000_000;
    const goodAfter = (last: number) =>
      [-1, 0, 1].map((off) => stepOf(secret, codeAt(secret, step + off), step * 30, last));
    expect(goodAfter(step)).toEqual([undefined, undefined, step + 1]);
    expect(goodAfter(step - 1)).toEqual([undefined, step, step + 1]);
  });

  test.each(['', '12345', '1234567', '12345a', '١٢٣٤٥٦', '-12345', '1e5000'])('is malformed as %j', (typed) => {
    expect(stepOf(secret, typed, 59)).toBeUndefined();
  });

  test.each([' 287 082 ', '287-082', '287\u2013082', '\u00a0287\u202f082\n', '\u200b287082', '２８７０８２'])(
    'may be typed as %j',
    (typed) => {
      expect(stepOf(secret, typed, 59)).toBe(1);
    },
  );
});

test('base32 is that of RFC 4648, without padding', () => {
  const encoded = ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar'].map((text) => base32(Buffer.from(text)));
  expect(encoded).toEqual(['', 'MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI']);
});

test('the URI for apps contains site and account', () => {
  const uri = new URL(otpauthUri('MZXW6', 'A & B: shop', 'ada+x@example.com'));
  expect(decodeURIComponent(uri.pathname)).toContain('A & B: shop:ada+x@example.com');
  expect(Object.fromEntries(uri.searchParams)).toEqual({ secret: 'MZXW6', issuer: 'A & B: shop' });
  expect(uri.href).not.toContain('+');
});
