import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Event } from '../../../shared/http/stack.ts';

const secret = 'Zq3v8n2Lk0';
const asked = (headers: Readonly<Record<string, string>>) =>
  ({ headers, requestContext: { http: { sourceIp: '198.51.100.1' } } }) as unknown as Event;

/** Settings are read once, so each test has modules of its own. */
const sourceOf = async (headers: Readonly<Record<string, string>>) =>
  (await import('../../../shared/http/stack.ts')).sourceAddress(asked(headers));

beforeEach(() => vi.resetModules());
afterEach(() => vi.unstubAllEnvs());

test('a request has the address that CloudFront saw when CloudFront sends its secret', async () => {
  vi.stubEnv('VIEWER_SECRET', secret);
  expect(await sourceOf({ 'x-viewer-secret': secret, 'x-viewer-address': '2001:db8::7' })).toBe('2001:db8::7');
  expect(await sourceOf({ 'x-viewer-secret': secret })).toBe('198.51.100.1');
});

test.each([
  ['without the secret', { 'x-viewer-address': '192.0.2.7' }],
  ['with another of its length', { 'x-viewer-address': '192.0.2.7', 'x-viewer-secret': 'Zq3v8n2Lk1' }],
  [
    'with another of as many characters in more bytes',
    { 'x-viewer-address': '192.0.2.7', 'x-viewer-secret': 'é'.repeat(10) },
  ],
  ['with a shorter one', { 'x-viewer-address': '192.0.2.7', 'x-viewer-secret': 'Z' }],
  ['by another header', { 'x-forwarded-for': '192.0.2.7', 'x-viewer-secret': secret }],
])('a request %s has the address that the gateway saw', async (_how, headers) => {
  vi.stubEnv('VIEWER_SECRET', secret);
  expect(await sourceOf(headers as Readonly<Record<string, string>>)).toBe('198.51.100.1');
});

test('a request has the address that the gateway saw when no proxy is configured', async () => {
  vi.stubEnv('VIEWER_SECRET', '');
  expect(await sourceOf({ 'x-viewer-secret': '', 'x-viewer-address': '192.0.2.7' })).toBe('198.51.100.1');
});
