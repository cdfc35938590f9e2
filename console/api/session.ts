import { signal } from '@preact/signals';
import { ask } from './ask.ts';
import { problemOf } from './problem.ts';
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

const take = ({ accessToken: token, developer: who }: SignIn): void => {
  accessToken = token;
  developer.value = who;
};

const forget = (): void => {
  accessToken = undefined;
  developer.value = null;
};

/** Takes what a sign-in answered; other tabs that wait at the sign-in go on. */
export const signedIn = (answer: SignIn): void => {
  take(answer);
  others.postMessage('signed in');
};

/** Forgets who was signed in, here and in the other tabs. */
export const signedOut = (): void => {
  forget();
  others.postMessage('signed out');
};

others.onmessage = ({ data }) => {
  if (data === 'signed out') forget();
  // A tab with somebody's work in it keeps it until its token ends.
  else if (developer.value === null) renew().catch(() => undefined);
};

/** Where a renewal says that it is under way, in ms since 1970: it may outlive its page, and set the cookie later. */
const underWay = 'basalt:renewing';
const longestRenewalMs = 10_000;
const lookMs = 500;

const exchange = async (): Promise<SignIn> => {
  const { method, path } = callOf('refresh-developer', {});
  // The answer sets the next cookie, so it has to arrive even where the page is left meanwhile.
  return (await ask(path, { method, keepalive: true })).data as SignIn;
};

/** An exchange, tried again as long as that of a page that was left may not have set the next cookie yet. */
const exchangeAfterOthers = async (): Promise<SignIn> => {
  const until = Number(localStorage.getItem(underWay)) + longestRenewalMs;
  localStorage.setItem(underWay, String(Date.now()));
  try {
    for (;;) {
      try {
        return await exchange();
      } catch (error) {
        if (problemOf(error).code !== 'REFRESH_TOKEN_INVALID' || Date.now() > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, lookMs));
      }
    }
  } finally {
    localStorage.removeItem(underWay);
  }
};

const renewNow = async (): Promise<string | undefined> => {
  try {
    take(await exchangeAfterOthers());
    return accessToken;
  } catch (error) {
    if (problemOf(error).status !== 401) throw error;
    forget();
    return undefined;
  }
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

/** What the link goes on with where its developer has a second factor. */
export const linkTicket = signal<string | undefined>(undefined);

/** Trades the token of the link that `npm start` prints, if the address has one, for a session or a ticket. */
const followLink = async (): Promise<boolean> => {
  const token = new URLSearchParams(location.hash.slice(1)).get(linkParameter);
  if (token === null) return false;
  history.replaceState(null, '', location.pathname + location.search);
  const headers = { 'content-type': 'application/json' };
  try {
    const { data } = await ask('/api/auth/link', { method: 'POST', headers, body: JSON.stringify({ token }) });
    signedIn(data as SignIn);
    return true;
  } catch (error) {
    linkTicket.value = problemOf(error).ticket;
    if (linkTicket.value !== undefined) forget();
    return linkTicket.value !== undefined;
  }
};

/** Finds out who is signed in: by the link that led here, else by the cookie. */
export const begin = async (): Promise<void> => {
  if (!(await followLink())) await renew();
};
