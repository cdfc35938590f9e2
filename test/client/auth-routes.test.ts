import { expect, test, vi } from 'vitest';
import { basalt } from '../../client/src/index.ts';
import { userAuthRoutes } from '../../functions/user-auth/routes.ts';

/** Routes that the client calls automatically or opens in the browser. */
const withoutEntry = new Set(['/api/userAuth/refresh-token', '/api/userAuth/social/{provider}/start']);

/** Entries that need a browser and fail before they send a request. */
const withPasskeys = new Set(['addPasskey', 'loginByPasskey']);

const hour = btoa(JSON.stringify({ iat: 0, exp: 3600 }));
const accessToken = `.${hour}.`;

const plain = (method: string, path: string): string => `${method} ${path.replaceAll(/\{\w+\}/g, 'x')}`;

/** Returns the route that each entry of `app.auth` requests, by the entry’s name. */
const asked = async (): Promise<Map<string, string>> => {
  const found = new Map<string, string>();
  const fetching = vi.fn<typeof fetch>(async () =>
    Response.json({ accessToken, refreshToken: 'r', data: { refreshToken: 'r' }, user: {} }),
  );
  const app = basalt('http://x', 'pk_live_x', { fetch: fetching });
  for (const [name, act] of Object.entries(app.auth)) {
    await app.auth.login({ email: 'a', password: 'b' });
    fetching.mockClear();
    const done = (act as (first: unknown) => unknown)(name === 'exchange' ? { token: accessToken, rtCode: 'c' } : 'x');
    if (withPasskeys.has(name)) await expect(done).rejects.toMatchObject({ code: 'PASSKEYS_UNAVAILABLE' });
    else await done;
    const [address, init] = fetching.mock.calls[0] ?? [];
    if (address) found.set(name, plain(init?.method ?? '', new URL(String(address)).pathname));
  }
  return found;
};

test('each user account route that apps use has one client entry that requests it', async () => {
  // Public routes are for identity providers and other servers.
  const routes = Object.values(userAuthRoutes).filter(
    ({ path, access }) => access !== 'public' && !withoutEntry.has(path),
  );
  const expected = routes.flatMap(({ method, path }) => [method].flat().map((each) => plain(each, path)));
  const found = await asked();
  expect(found.get('socialStart')).toBe('POST /api/userAuth/social/x/start');
  found.delete('socialStart');
  const entries = [...found.values()];
  expect(entries.toSorted()).toEqual(expected.toSorted());
});
