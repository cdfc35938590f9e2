import { signal } from '@preact/signals';
import { Problem } from './problem.ts';
import { callOf, type Data } from './rows.ts';

type SignIn = Data<'sign-in-developer'>;
export type Developer = SignIn['developer'];

/** Who is signed in; `undefined` until it is known, `null` for nobody. */
export const developer = signal<Developer | null | undefined>(undefined);

/** The access token lives in this page alone; the refresh cookie is out of reach of any script. */
let accessToken: string | undefined;
let renewal: Promise<string | undefined> | undefined;

const others = new BroadcastChannel('basalt-session');

export const tokenNow = (): string | undefined => accessToken;

/** Takes what a sign-in answered. */
export const signedIn = ({ accessToken: token, developer: who }: SignIn): void => {
  accessToken = token;
  developer.value = who;
};

/** Forgets who was signed in, here and in the other tabs. */
export const signedOut = (): void => {
  accessToken = undefined;
  developer.value = null;
  others.postMessage('signed out');
};

others.onmessage = () => {
  accessToken = undefined;
  developer.value = null;
};

const renewNow = async (): Promise<string | undefined> => {
  const { method, path } = callOf('refresh-developer', {});
  const response = await fetch(path, { method }).catch(() => {
    throw new Problem(0, {});
  });
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (response.ok) {
    signedIn(body.data as SignIn);
    return accessToken;
  }
  if (response.status !== 401)
    throw new Problem(response.status, body, Number(response.headers.get('retry-after')) || undefined);
  accessToken = undefined;
  developer.value = null;
  return undefined;
};

/**
 * A fresh access token, or `undefined` where nobody is signed in any more. Once for all that wait; tabs take turns,
 * since each renewal uses the cookie up that all of them share.
 */
export const renew = (): Promise<string | undefined> => {
  renewal ??= navigator.locks.request('basalt-refresh', renewNow).finally(() => {
    renewal = undefined;
  });
  return renewal;
};

const linkParameter = 'link';

/** Trades the token of the link that `npm start` prints, if the address has one, for a session. */
const followLink = async (): Promise<string | undefined> => {
  const token = new URLSearchParams(location.hash.slice(1)).get(linkParameter);
  if (token === null) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch('/api/auth/link', { method: 'POST', headers, body: JSON.stringify({ token }) });
  if (!response.ok) return undefined;
  signedIn(((await response.json()) as { readonly data: SignIn }).data);
  return accessToken;
};

/** Finds out who is signed in: by the link that led here, else by the cookie. */
export const begin = async (): Promise<void> => {
  if ((await followLink()) === undefined) await renew();
};
