import { describe, expect, test } from 'vitest';
import { isAddress, isMailbox } from '../../../shared/core/schemas.ts';

describe('an address', () => {
  test.each(['a@example.com', 'A.B+c@Sub.Example.co.uk', "o'neil@example.org", `${'a'.repeat(64)}@example.com`])(
    '%s is accepted',
    (address) => {
      expect(isAddress(address)).toBe(true);
    },
  );

  test.each([
    '',
    'a',
    '@example.com',
    'a@',
    'a@localhost',
    'a@-x.com',
    'a b@example.com',
    'a@example.com,b@example.com',
    'a@example.com\r\nBcc: b@example.org',
    'a@example.com\n',
    'a\0@example.com',
    'a@exa\u2028mple.com',
    '\u212A@example.com',
    'a..b@example.com',
    `${'a'.repeat(250)}@example.com`,
    '$ne@',
    `${'a'.repeat(65)}@example.com`,
  ])('%j is rejected', (address) => {
    expect(isAddress(address)).toBe(false);
  });
});

describe('an address with a name', () => {
  test.each([
    'Ann <a@example.com>',
    '"Lee, Ann" <a@example.com>',
    '<a@example.com>',
    ' "Ann"  <a@example.com>',
    'Änn 日本 <a@example.com>',
    `${'x'.repeat(200)} <a@example.com>`,
    `"${'x'.repeat(200)}" <a@example.com>`,
    `${'😀'.repeat(200)} <a@example.com>`,
  ])('%s is accepted', (mailbox) => {
    expect(isMailbox(mailbox)).toBe(true);
  });

  test.each([
    'Ann <a@example.com',
    'Ann a@example.com>',
    'Ann <a@example.com> <b@example.com>',
    'b@example.com, Ann <a@example.com>',
    'Lee, Ann <a@example.com>',
    'A"nn <a@example.com>',
    'Ann\r\nBcc: b@example.org <a@example.com>',
    'A\0nn <a@example.com>',
    'Ann\r\n\r\n<a@example.com>',
    'Ann\n <a@example.com>',
    '"Ann"\n<a@example.com>',
    '\u2028<a@example.com>',
    '"A\\"nn" <a@example.com>',
    `${'x'.repeat(201)} <a@example.com>`,
    `${'x'.repeat(300)} <a@example.com>`,
    'Ann <>',
  ])('%j is rejected', (mailbox) => {
    expect(isMailbox(mailbox)).toBe(false);
  });

  // Read with a pattern that tries everything, one of these would take longer than a test may.
  test('a very long text is rejected', () => {
    for (const text of ['a.'.repeat(500_000), `${'<'.repeat(500_000)}`, `${'a@a.'.repeat(200_000)}>`]) {
      expect(isMailbox(text)).toBe(false);
    }
  });
});
