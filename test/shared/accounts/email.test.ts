import { describe, expect, test } from 'vitest';
import { canonicalEmail, checkEmail } from '../../../shared/accounts/email-tokens.ts';

/** The longest address and local part. */
const longest = `${'a'.repeat(64)}@${`${'b'.repeat(61)}.`.repeat(3)}com`;

describe('checkEmail', () => {
  test.each([
    ['a@b.co', 'a@b.co'],
    ['  Ann@Example.COM \n', 'ann@example.com'],
    ['first.last+tag@sub-domain.example.co.uk', 'first.last+tag@sub-domain.example.co.uk'],
    ["o'hara_{x}@example.museum", "o'hara_{x}@example.museum"],
    ['a@xn--bcher-kva.example', 'a@xn--bcher-kva.example'],
    [longest, longest],
  ])('accepts %j', (sent, kept) => {
    expect(checkEmail(sent)).toBe(kept);
    expect(canonicalEmail(sent)).toBe(kept);
  });

  test.each([
    [''],
    ['plain'],
    ['@example.com'],
    ['a@'],
    ['a@b'],
    ['a@localhost'],
    ['a@b..com'],
    ['a@.com'],
    ['a@b.com.'],
    ['a@-b.com'],
    ['a@b-.com'],
    ['a@b.1'],
    ['a@[127.0.0.1]'],
    ['a..b@c.com'],
    ['.a@c.com'],
    ['a.@c.com'],
    ['a b@c.com'],
    ['a@b@c.com'],
    ['"a b"@c.com'],
    ['Ann <a@b.co>'],
    ['a@b.co,c@d.co'],
    ['a@b.co\r\nBcc: c@d.co'],
    ['a\0@b.co'],
    ['ä@b.co'],
    ['a@bü.co'],
    [`${longest}m`],
    [`${'a'.repeat(65)}@example.com`],
    [undefined],
    [null],
    [7],
    [['a@b.co']],
    [{ $ne: null }],
    [{ $regex: '.' }],
  ])('VALIDATION_FAILED for %j', (value) => {
    expect(() => checkEmail(value)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_FAILED', errors: [expect.objectContaining({ field: 'email' })] }),
    );
  });

  // These would exceed the test's time if they took more than linear time.
  test.each([`${'a.'.repeat(1_000_000)}@`, `a@${'a-'.repeat(1_000_000)}`, `a@${'a.'.repeat(1_000_000)}1`])(
    'VALIDATION_FAILED for addresses made to be slow',
    (evil) => {
      expect(() => checkEmail(evil)).toThrow();
    },
  );
});
