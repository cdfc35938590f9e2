import { describe, expect, test } from 'vitest';
import { cookie, getCookie } from '../../../shared/http/cookies.ts';
import type { Event } from '../../../shared/http/stack.ts';

const event = (domainName: string, headers: Record<string, string> = {}, cookies?: string[]): Event =>
  ({ headers, requestContext: { domainName }, ...(cookies ? { cookies } : {}) }) as unknown as Event;

const scope = { path: '/api/auth', sameSite: 'Strict', maxAge: 60 } as const;
const plain = 'name=value; HttpOnly; Path=/api/auth; Max-Age=60; SameSite=Strict';

describe('cookie', () => {
  test.each([
    ['api.example.com', {}],
    ['api.example.com', { 'x-forwarded-proto': 'http' }],
    ['localhost.example.com', {}],
    ['127.0.0.1.example.com', {}],
    ['127.0.0.1:4001', { 'x-forwarded-proto': 'https' }],
  ])('is Secure at %s with %j', (domainName, headers) => {
    expect(cookie(event(domainName, headers), 'name', 'value', scope)).toBe(`${plain}; Secure`);
  });

  test.each(['127.0.0.1', '127.0.0.1:4001', 'localhost', 'localhost:4001', '[::1]:4001'])(
    'is not Secure over plain http at %s',
    (domainName) => {
      expect(cookie(event(domainName), 'name', 'value', scope)).toBe(plain);
    },
  );
});

describe('getCookie', () => {
  test.each<[string[] | undefined, string | undefined]>([
    [undefined, undefined],
    [[], undefined],
    [['name=value'], 'value'],
    [['a=b', 'name=a=b'], 'a=b'],
    [['xname=value', 'name2=value', 'name'], undefined],
    [['name='], ''],
  ])('in %j finds %j', (cookies, value) => {
    expect(getCookie(event('localhost', {}, cookies), 'name')).toBe(value);
  });
});
