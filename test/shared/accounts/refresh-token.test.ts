import { describe, expect, test } from 'vitest';
import { newRefreshToken, parseRefreshToken } from '../../../shared/accounts/sessions.ts';

const user = 'a'.repeat(24);
const session = 'b'.repeat(24);

describe('a refresh token', () => {
  test('contains its owner and is stored under a hash that does not contain it', () => {
    const { token, hash } = newRefreshToken(user, session);
    expect(parseRefreshToken(token)).toEqual({ userId: user, sessionId: session, hash });
    expect(hash).not.toContain(token.slice(33));
  });

  test('contains the sign-in methods of its session', () => {
    const { token, hash } = newRefreshToken(user, session, ['oidc:a-name', 'recovery', 'mfa']);
    const amr = ['oidc:a-name', 'recovery', 'mfa'];
    expect(parseRefreshToken(token)).toEqual({ userId: user, sessionId: session, hash, amr });
  });

  test('has 256 random bits', () => {
    const secrets = Array.from({ length: 100 }, () =>
      Buffer.from(newRefreshToken(user, session).token, 'base64url').subarray(24).toString('hex'),
    );
    expect(new Set(secrets).size).toBe(100);
    expect(secrets.every((secret) => secret.length === 64)).toBe(true);
  });

  test.each([
    '',
    'x',
    'A'.repeat(74),
    'A'.repeat(76),
    'A'.repeat(164),
    Buffer.concat([Buffer.alloc(56), Buffer.from('pwd  mfa')]).toString('base64url'),
    `${'A'.repeat(74)}+`,
    `${'A'.repeat(74)}=`,
    `${'A'.repeat(75)}\n`,
  ])('is malformed as %j', (token) => {
    expect(parseRefreshToken(token)).toBeUndefined();
  });

  test('is hashed as it is, so that another spelling of the same bytes is unknown', () => {
    const { token, hash } = newRefreshToken(user, session);
    const other = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
    expect(parseRefreshToken(other)?.hash).not.toBe(hash);
  });
});
