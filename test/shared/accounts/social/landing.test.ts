import { describe, expect, test, vi } from 'vitest';
import { callbackRedirectUrl, orErrorRedirect } from '../../../../shared/accounts/social/ask-provider.ts';
import { AppError } from '../../../../shared/core/errors.ts';

describe('the callback page', () => {
  test.each([
    ['https://app.example.com', 'https://app.example.com/auth/callback?error=x'],
    ['https://app.example.com/', 'https://app.example.com/auth/callback?error=x'],
    ['https://example.com/app', 'https://example.com/app/auth/callback?error=x'],
    ['https://example.com/app//', 'https://example.com/app/auth/callback?error=x'],
    ['https://example.com/app?a=b#c', 'https://example.com/app/auth/callback?error=x'],
    ['http://localhost:3000', 'http://localhost:3000/auth/callback?error=x'],
  ])('of %s is %s', (siteUrl, expected) => {
    expect(callbackRedirectUrl(siteUrl, { error: 'x' })).toBe(expected);
  });

  test('keeps each parameter whole', () => {
    const url = new URL(callbackRedirectUrl('https://app.example.com', { error: 'a&isNewUser=true#token=b\r\nc' }));
    expect([...url.searchParams]).toEqual([['error', 'a&isNewUser=true#token=b\r\nc']]);
    expect(url.hash).toBe('');
  });
});

describe('the callback page of a failed sign-in', () => {
  const siteUrl = 'https://app.example.com';
  const failWith = async (error: unknown) => {
    const lines: string[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    const { location } = await orErrorRedirect({ siteUrl }, () => Promise.reject(error));
    vi.restoreAllMocks();
    return { shown: new URL(location).searchParams.get('error'), level: JSON.parse(lines.join('')).level };
  };
  const errorOf = async (error: unknown) => (await failWith(error)).shown;

  test('shows an error message for users', async () => {
    expect(await errorOf(new AppError('SIGNUP_DISABLED', 'No sign-ups at present.'))).toBe('No sign-ups at present.');
  });

  test.each([
    ['error', 'a fault of ours', new Error('broken')],
    ['error', 'a database that is down', new AppError('DATABASE_UNAVAILABLE', 'The database cannot be reached.')],
    ['warn', 'a refusal', new AppError('SIGNUP_DISABLED', 'No sign-ups at present.')],
    ['warn', 'callers who hinder each other', new AppError('TOO_MANY_WRITERS', 'Retry.')],
    ['warn', 'what is not set up', new AppError('NOT_SET_UP', 'There is no key.')],
  ])('is logged as %s: %s', async (level, _what, error) => {
    expect((await failWith(error)).level).toBe(level);
  });

  test.each([
    ['an Error', new Error('connect ECONNREFUSED 10.0.0.7:27017')],
    ['one of another kind', new TypeError("Cannot read properties of undefined (reading '_id')")],
    ['no Error at all', 'mongodb://user:password@host'],
    ['an object that looks like ours', { code: 'SIGNUP_DISABLED', message: 'connect ECONNREFUSED' }],
  ])('hides internal errors: %s', async (_what, error) => {
    expect(await errorOf(error)).toBe('Something went wrong on our side. Retry.');
  });
});
