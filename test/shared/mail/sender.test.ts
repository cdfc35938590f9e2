import { expect, test } from 'vitest';
import { senderOf } from '../../../shared/mail/content.ts';

test.each([
  ['a name before a plain address', 'Notes', 'no-reply@example.com', 'Notes <no-reply@example.com>'],
  ['its own name instead of another', 'Notes', 'Basalt <no-reply@example.com>', 'Notes <no-reply@example.com>'],
  ['letters of every language', 'Nötes 日本', 'a@example.com', 'Nötes 日本 <a@example.com>'],
  ['the name that the address has where there is none', '', 'Basalt <a@example.com>', 'Basalt <a@example.com>'],
  ['no name at all', '', ' a@example.com ', 'a@example.com'],
  ['a name of nothing but specials', '<>"', 'a@example.com', 'a@example.com'],
  ['an address in the name', 'Bank <bank@example.org>,', 'a@example.com', 'Bank <a@example.com>'],
  ['line breaks', 'A\r\nBcc: b@example.org', 'a@example.com', 'A Bcc <a@example.com>'],
  ['NUL and other controls', 'A\u0000\u0007\u2028B', 'a@example.com', 'A B <a@example.com>'],
  ['quotes and backslashes', 'A "B" \\ C', 'a@example.com', 'A B C <a@example.com>'],
  ['a very long name', 'x'.repeat(500), 'a@example.com', `${'x'.repeat(40)} <a@example.com>`],
])('%s', (_title, name, from, sender) => {
  expect(senderOf(name, from)).toBe(sender);
});
