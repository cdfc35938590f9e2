import { beforeAll, describe, expect, test } from 'vitest';
import {
  addressKeyOf,
  hashCode,
  newCode,
  newLinkToken,
  parseCode,
  parseLinkToken,
} from '../../../shared/accounts/email-tokens.ts';

beforeAll(() => {
  process.env.ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');
});

describe('a link token', () => {
  test('contains only its address key and its secret', () => {
    const addressKey = addressKeyOf('ann@example.com');
    const { token, hash } = newLinkToken(addressKey);
    expect(token).toMatch(/^[\w-]{64}$/);
    expect(parseLinkToken(token)).toEqual({ addressKey, hash });
    expect(token).not.toContain(hash);
    expect(newLinkToken(addressKey).token).not.toBe(token);
  });

  test.each([
    '',
    'x',
    'A'.repeat(63),
    'A'.repeat(65),
    `${'A'.repeat(63)}=`,
    `${'A'.repeat(63)}.`,
    `${'A'.repeat(63)}\n`,
  ])('is malformed as %j', (token) => {
    expect(parseLinkToken(token)).toBeUndefined();
  });
});

describe('a code', () => {
  test('has eight letters of the alphabet and a dash', () => {
    const codes = Array.from({ length: 500 }, newCode);
    for (const code of codes) expect(code).toMatch(/^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/);
    expect(new Set(codes).size).toBe(500);
    expect(new Set(codes.join('').replaceAll('-', '')).size).toBe(32);
  });

  test.each([
    ['ABCD-EFGH', 'ABCDEFGH'],
    ['abcd-efgh', 'ABCDEFGH'],
    ['abcdefgh', 'ABCDEFGH'],
    [' ab cd-ef gh ', 'ABCDEFGH'],
    ['A-B-C-D-E-F-G-H', 'ABCDEFGH'],
    ['2345-6789', '23456789'],
    ['ABCD\u2013EFGH', 'ABCDEFGH'],
    ['ABCD\u2014EFGH', 'ABCDEFGH'],
    ['ABCD\u2011EFGH', 'ABCDEFGH'],
    ['ABCD\u2212EFGH', 'ABCDEFGH'],
    ['\u00a0ABCD\u202fEFGH\n', 'ABCDEFGH'],
    ['\ufeffABCD\u00ad\u200bEFGH\u200f', 'ABCDEFGH'],
    ['ＡＢＣＤ－２３４５', 'ABCD2345'],
  ])('%j is parsed as %s', (typed, code) => {
    expect(parseCode(typed)).toBe(code);
  });

  test.each([
    '',
    'ABCD-EFG',
    'ABCD-EFGHJ',
    'ABCD-EFG0',
    'ABCD-EFG1',
    'ABCD-EFGI',
    'ABCD-EFGO',
    'ÀBCD-EFGH',
    '-'.repeat(99),
  ])('%j is malformed', (typed) => {
    expect(parseCode(typed)).toBeUndefined();
  });

  test('has another hash in every place', async () => {
    const hash = await hashCode('ABCDEFGH', 'a');
    expect(await hashCode('ABCDEFGH', 'a')).toBe(hash);
    expect(await hashCode('ABCDEFGH', 'b')).not.toBe(hash);
    expect(await hashCode('ABCDEFGJ', 'a')).not.toBe(hash);
    expect(hash).not.toContain('ABCDEFGH');
  });
});

test('each address has its own key', () => {
  expect(addressKeyOf('a@b.co')).toMatch(/^[\w-]{22}$/);
  expect(addressKeyOf('a@b.co')).toBe(addressKeyOf('a@b.co'));
  expect(addressKeyOf('a@b.co')).not.toBe(addressKeyOf('b@b.co'));
});
