import { describe, expect, test } from 'vitest';
import { contactPathId, pathId } from '../../../shared/mail/audiences.ts';

describe('An id in a path', () => {
  test.each(['78261eea-8f8b-4381-83c6-79fa7120f1cf', 'abc_1'])('is unchanged: %s', (id) => {
    expect(pathId('audience', id)).toBe(id);
  });

  test.each([
    '.',
    '..',
    '../emails',
    'a/b',
    'a%2fb',
    'a?b',
    'a#b',
    'a b',
    'a\\b',
    'a\n',
    '',
    'a'.repeat(101),
    'a@b.cd',
  ])('MAIL_PROVIDER_NOT_FOUND %j', (id) => {
    expect(() => pathId('broadcast', id)).toThrow(expect.objectContaining({ code: 'MAIL_PROVIDER_NOT_FOUND' }));
  });
});

describe('A contact in a path', () => {
  test.each([
    ['abc-1', 'abc-1'],
    ['ada+x@example.com', 'ada%2Bx%40example.com'],
  ])('%s is written %s', (id, expected) => {
    expect(contactPathId(id)).toBe(expected);
  });

  test.each(['..', 'a@b/../c', '../a@example.com', 'a/b@example.com?x', ''])('MAIL_PROVIDER_NOT_FOUND %j', (id) => {
    expect(() => contactPathId(id)).toThrow(expect.objectContaining({ code: 'MAIL_PROVIDER_NOT_FOUND' }));
  });
});
