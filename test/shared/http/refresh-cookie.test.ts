import { describe, expect, test } from 'vitest';
import { bodyToken, refreshCookie, sentRefreshToken } from '../../../shared/http/cookies.ts';
import type { Event } from '../../../shared/http/stack.ts';
import type { Project } from '../../../shared/projects/project.ts';

const project = (siteUrl: string | null, ...allowedDomains: string[]) =>
  ({ id: 'p', siteUrl, allowedDomains }) as unknown as Project;

const event = (headers: Record<string, string>, cookies: string[] = [], domainName = 'api.example.com') =>
  ({ headers, cookies, requestContext: { domainName } }) as unknown as Event;

describe('a cookie counts', () => {
  test.each<[string, Record<string, string>, boolean]>([
    ['without origin', {}, true],
    ['without origin, from the same site', { 'sec-fetch-site': 'same-origin' }, true],
    ['not without origin, from another site', { 'sec-fetch-site': 'cross-site' }, false],
    ['from the site', { origin: 'https://app.example.com' }, true],
    ['from an origin that is listed', { origin: 'https://b.example' }, true],
    ['from a host that is listed', { origin: 'https://c.example' }, true],
    ['not from a sub-domain of a pattern', { origin: 'https://x.d.example' }, false],
    ['not from elsewhere, though everything may call', { origin: 'https://e.example' }, false],
    ['not from the origin null', { origin: 'null' }, false],
    ['not from an origin that is none', { origin: 'app.example.com' }, false],
  ])('%s', (_name, headers, counts) => {
    const of = project('https://app.example.com/path', '*', 'https://b.example', 'c.example', '*.d.example');
    expect(refreshCookie.set(event(headers), 'token', of)).toHaveLength(counts ? 1 : 0);
    expect(refreshCookie.remove(event(headers), of)).toHaveLength(counts ? 1 : 0);
    const sent = sentRefreshToken(event(headers, ['a=b', 'refresh_p=token']), of);
    expect(sent).toEqual({ token: counts ? 'token' : undefined, inHeader: false });
  });

  test('does not count from any origin when the project names none', () => {
    const elsewhere = event({ origin: 'https://app.example.com' }, ['refresh_p=token']);
    expect(refreshCookie.set(elsewhere, 'token', project(null, '*'))).toEqual([]);
    expect(sentRefreshToken(elsewhere, project(null, '*')).token).toBeUndefined();
  });
});

describe('the cookie', () => {
  test('is for https and other sites', () => {
    expect(refreshCookie.set(event({ 'x-forwarded-proto': 'https' }), 'token', project(null))).toEqual([
      'refresh_p=token; HttpOnly; Path=/api/userAuth; Max-Age=604800; SameSite=None; Secure',
    ]);
  });

  test('is for plain http only when the service runs on this machine', () => {
    expect(refreshCookie.set(event({}, [], '127.0.0.1:4000'), 'token', project(null))).toEqual([
      'refresh_p=token; HttpOnly; Path=/api/userAuth; Max-Age=604800; SameSite=Lax',
    ]);
    expect(refreshCookie.remove(event({}), project(null))).toEqual([
      expect.stringMatching(/^refresh_p=; .*Max-Age=0; SameSite=None; Secure$/),
    ]);
  });
});

describe('the token in the body', () => {
  test.each<[Record<string, string>, boolean, string | undefined]>([
    [{}, false, undefined],
    [{ 'x-refresh-token-mode': 'cookie' }, false, undefined],
    [{ 'x-refresh-token-mode': 'header' }, false, 'token'],
    [{ 'x-refresh-token-mode': 'Header' }, false, 'token'],
    [{}, true, 'token'],
  ])('is expected with %j, sent in the header: %s', (headers, inHeader, shown) => {
    expect(bodyToken(event(headers), 'token', inHeader)).toBe(shown);
  });

  test('the header wins when a cookie is also sent', () => {
    const sent = sentRefreshToken(event({ 'x-refresh-token': 'a' }, ['refresh_p=b']), project(null));
    expect(sent).toEqual({ token: 'a', inHeader: true });
  });
});
