import { hash, verify } from '@node-rs/bcrypt';
import { describe, expect, test, vi } from 'vitest';
import { checkPassword, hashPassword, needsRehash, verifyPassword } from '../../../shared/accounts/passwords.ts';

process.env.PASSWORD_COST = '8';

vi.mock('@node-rs/bcrypt', async (original) => {
  const real = await original<typeof import('@node-rs/bcrypt')>();
  return { ...real, verify: vi.fn(real.verify) };
});

const length = 'must be 8 to 72 bytes long';

describe('checkPassword', () => {
  test.each([['12345678'], ['x'.repeat(72)], ['é'.repeat(36)], ['🙂🙂'], ['        ']])('accepts %j', (password) => {
    expect(checkPassword(password)).toBe(password);
  });

  test.each([
    ['Zu\u0308rich 1', 'Zürich 1'],
    ['e\u0301'.repeat(36), 'é'.repeat(36)],
    ['\u1112\u1161\u11ab\u1100\u1173\u11af\u0020\u1112', '한글 \u1112'],
  ])('normalizes %j to NFC before counting bytes', (password, normal) => {
    expect(checkPassword(password)).toBe(normal);
  });

  test.each<[unknown, string]>([
    ['A\u030a'.repeat(3), length],
    ['', length],
    ['1234567', length],
    ['x'.repeat(73), length],
    ['é'.repeat(37), length],
    ['1234567\0', 'must not contain a NUL character'],
    ['1234567\ud800', 'must be well-formed Unicode'],
    [undefined, 'must be a String'],
    [null, 'must be a String'],
    [12345678, 'must be a String'],
    [['12345678'], 'must be a String'],
    [{ $ne: null }, 'must be a String'],
  ])('VALIDATION_FAILED for %j', (password, message) => {
    expect(() => checkPassword(password, 'newPassword')).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_FAILED',
        message: `Validation failed: newPassword ${message}`,
        errors: [{ field: 'newPassword', message: `newPassword ${message}` }],
      }),
    );
  });
});

describe('verifyPassword', () => {
  test('accepts only the right password', async () => {
    const stored = await hashPassword('correct horse');
    expect(await verifyPassword('correct horse', stored)).toBe(true);
    expect(await verifyPassword('Correct horse', stored)).toBe(false);
    expect(await verifyPassword('', stored)).toBe(false);
  });

  test.each(['NFC', 'NFD'] as const)('accepts a password that was set in %s in either form', async (form) => {
    const stored = await hashPassword(checkPassword('Zürich über'.normalize(form)));
    expect(await verifyPassword('Zürich über'.normalize('NFC'), stored)).toBe(true);
    expect(await verifyPassword('Zürich über'.normalize('NFD'), stored)).toBe(true);
    expect(await verifyPassword('Zurich uber', stored)).toBe(false);
  });

  test('accepts an older hash of the password as it is sent', async () => {
    const password = 'Zürich über'.normalize('NFD');
    expect(await verifyPassword(password, await hash(password, { cost: 8 }))).toBe(true);
  });

  test.each([undefined, 'stored'])(
    'verifies two hashes for a password that is not in NFC, also without an account (%s)',
    async (whose) => {
      const stored = whose && (await hashPassword('correct horse'));
      vi.mocked(verify).mockClear();
      expect(await verifyPassword('Zürich über'.normalize('NFD'), stored)).toBe(false);
      expect(verify).toHaveBeenCalledTimes(2);
    },
  );

  test('rejects a longer password that bcrypt would truncate to the right one', async () => {
    const longest = 'x'.repeat(72);
    const stored = await hashPassword(longest);
    expect(await verifyPassword(longest, stored)).toBe(true);
    expect(await verifyPassword(`${longest}x`, stored)).toBe(false);
    expect(await verifyPassword(`${longest}\0`, stored)).toBe(false);
  });

  test.each(['wrong horse', '', 'x'.repeat(80)])(
    'rejects %j without an account, after the same work: one hash of the same cost',
    async (password) => {
      const stored = await hashPassword('correct horse');
      for (const against of [stored, undefined]) {
        vi.mocked(verify).mockClear();
        expect(await verifyPassword(password, against)).toBe(false);
        expect(vi.mocked(verify).mock.calls).toEqual([
          [expect.any(String), expect.stringMatching(/^\$2b\$08\$.{53}$/)],
        ]);
      }
    },
  );
});

test('needsRehash is true for a hash of another cost only', async () => {
  expect(needsRehash(await hashPassword('correct horse'))).toBe(false);
  expect(needsRehash((await hashPassword('correct horse')).replace('$08$', '$04$'))).toBe(true);
});
