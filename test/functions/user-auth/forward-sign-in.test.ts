import { expect, inject, test } from 'vitest';
import { target } from '../../support/clients/browser.ts';

const { baseUrl, env } = inject('stack');
const callback = (provider: string) => `/api/userAuth/social/${provider}/callback`;

const post = async (form: Record<string, string>, provider = 'apple') => {
  const url = baseUrl + callback(provider);
  const answer = await fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams(form) });
  return { url, status: answer.status, headers: answer.headers, text: await answer.text() };
};

test('303 to the callback with the known fields of the form only', async () => {
  const known = { state: 'a.b', code: 'c', user: '{"name":{}}', iss: 'https://appleid.apple.com' };
  const page = await post({ ...known, redirect_uri: 'https://evil.example', id_token: 'x', __proto__x: 'y' });
  expect(page.status).toBe(303);
  expect(target(page).origin + target(page).pathname).toBe(`${env.PUBLIC_URL}${callback('apple')}`);
  expect(Object.fromEntries(target(page).searchParams)).toEqual(known);
  expect(page.headers.getSetCookie()).toEqual([]);
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
});

test.each([
  ['1000 emoji', '😀'.repeat(1000), '😀'.repeat(50)],
  ['1000 letters of Devanagari', 'न'.repeat(1000), 'न'.repeat(100)],
  ['60 emoji', '😀'.repeat(60), '😀'.repeat(60)],
])('303 to a URL that the gateway accepts when the name has %s', async (_, firstName, carried) => {
  const page = await post({ state: 'a.b', code: 'c', user: JSON.stringify({ name: { firstName, lastName: 'B' } }) });
  expect(page.status).toBe(303);
  expect(target(page).href.length).toBeLessThan(4000);
  const { name } = JSON.parse(target(page).searchParams.get('user') ?? '');
  expect(name.firstName).toBe(carried);
  expect((await fetch(target(page), { redirect: 'manual' })).status).toBe(400);
});

test.each<[number, string, () => ReturnType<typeof post>]>([
  [404, 'UNKNOWN_PROVIDER', () => post({}, 'myspace')],
  [400, 'INVALID_BODY', () => post({ code: 'a'.repeat(4097) })],
  [413, 'BODY_TOO_LARGE', () => post({ other: 'a'.repeat(17 * 1024) })],
])('%i %s', async (status, code, act) => {
  const page = await act();
  expect(page.status).toBe(status);
  expect(JSON.parse(page.text)).toMatchObject({ code });
});
