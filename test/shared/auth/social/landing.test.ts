import { describe, expect, test } from 'vitest';
import { landingUrl } from '../../../../shared/auth/social/landing.ts';

describe('the landing page', () => {
  test.each([
    ['https://app.example.com', 'https://app.example.com/auth/callback?error=x'],
    ['https://app.example.com/', 'https://app.example.com/auth/callback?error=x'],
    ['https://example.com/app', 'https://example.com/app/auth/callback?error=x'],
    ['https://example.com/app//', 'https://example.com/app/auth/callback?error=x'],
    ['https://example.com/app?a=b#c', 'https://example.com/app/auth/callback?error=x'],
    ['http://localhost:3000', 'http://localhost:3000/auth/callback?error=x'],
  ])('of %s is %s', (siteUrl, expected) => {
    expect(landingUrl(siteUrl, { error: 'x' }).href).toBe(expected);
  });

  test('takes no parameter apart', () => {
    const url = landingUrl('https://app.example.com', { error: 'a&isNewUser=true#token=b\r\nc' });
    expect([...url.searchParams]).toEqual([['error', 'a&isNewUser=true#token=b\r\nc']]);
    expect(url.hash).toBe('');
  });
});
