import { signal } from '@preact/signals';
import { ask } from './ask.ts';
import { dropDrafts } from './drafts.ts';
import { problemOf } from './problem.ts';
import { callOf, type Data } from './rows.ts';

type SignIn = Data<'sign-in-developer'>;
type Developer = SignIn['developer'];

/** The signed-in developer: `undefined` until known, `null` if nobody is signed in. */
export const developer = signal<Developer | null | undefined>(undefined);

/** True if the session has ended and the page stays, so that nothing typed is lost. */
export const sessionEnded = signal(false);

/** The access token is kept in this page only. No script can read the refresh cookie. */
let accessToken: string | undefined;
let renewal: Promise<string | undefined> | undefined;
/** Resolves with the next access token, or with `undefined` if the page is left. */
let nextSignIn: PromiseWithResolvers<string | undefined> | undefined;

const others = new BroadcastChannel('basalt-session');

export const tokenNow = (): string | undefined => accessToken;

const resume = (token: string | undefined): void => {
  sessionEnded.value = false;
  nextSignIn?.resolve(token);
  nextSignIn = undefined;
};

const take = ({ accessToken: token, developer: who }: SignIn): void => {
  const isAnother = sessionEnded.peek() && developer.peek()?._id !== who._id;
  dropDrafts(who._id);
  accessToken = token;
  developer.value = who;
  // The page shows what the previous developer could see.
  if (isAnother) location.assign('/');
  else resume(token);
};

const forget = (): void => {
  accessToken = undefined;
  developer.value = null;
  resume(undefined);
};

/** Goes to the sign-in page after the session has ended. Drafts stay in this tab. */
export const leaveEndedSession = forget;

/** Stores the result of a sign-in. Other tabs that wait for a sign-in continue. */
export const signedIn = (answer: SignIn): void => {
  take(answer);
  others.postMessage('signed in');
};

/** Forgets the developer and their drafts, in all tabs. */
export const signedOut = (): void => {
  dropDrafts();
  forget();
  others.postMessage('signed out');
};

others.onmessage = ({ data }) => {
  if (data === 'signed out') {
    dropDrafts();
    forget();
  } else if (sessionEnded.value) {
    navigator.locks.request('basalt-refresh', renewNow).catch(() => undefined);
  } else if (developer.value === null) {
    // A tab with unsaved work keeps it until its token expires.
    renew().catch(() => undefined);
  }
};

const keyName = 'basalt:renewal-key';

/** With it, a renewal whose answer was lost can be repeated without looking like a stolen token. */
const renewalKey = (): string => {
  const key = localStorage.getItem(keyName) ?? crypto.randomUUID();
  localStorage.setItem(keyName, key);
  return key;
};

const exchange = async (): Promise<SignIn> => {
  const { method, path } = callOf('refresh-developer', {});
  const headers = { 'idempotency-key': renewalKey() };
  // The answer sets the next cookie, so it must arrive even if the page is left.
  return (await ask(path, { method, headers, keepalive: true })).data as SignIn;
};

const renewNow = async (): Promise<string | undefined> => {
  try {
    take(await exchange());
    return accessToken;
  } catch (error) {
    if (problemOf(error).status !== 401) throw error;
    if (developer.peek()) {
      accessToken = undefined;
      sessionEnded.value = true;
    } else {
      forget();
    }
    return undefined;
  }
};

const untilSignedIn = (): Promise<string | undefined> => {
  nextSignIn ??= Promise.withResolvers();
  return nextSignIn.promise;
};

/**
 * Returns a fresh access token, or `undefined` if nobody is signed in. If the session has ended, requests wait for
 * the sign-in over the page. One renewal serves all waiting requests. Tabs take turns, because each renewal uses up
 * the cookie that they share.
 */
export const renew = (): Promise<string | undefined> => {
  renewal ??= navigator.locks
    .request('basalt-refresh', renewNow)
    .then((token) => (sessionEnded.peek() ? untilSignedIn() : token))
    .finally(() => {
      renewal = undefined;
    });
  return renewal;
};

const linkParameter = 'link';

/** The ticket of a sign-in link if its developer has a second factor. */
export const linkTicket = signal<string | undefined>(undefined);

/** Exchanges the token of the link that `npm start` prints, if there is one, for a session or a ticket. */
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

/** Signs in by the link in the address, otherwise by the cookie. */
export const begin = async (): Promise<void> => {
  if (!(await followLink())) await renew();
};
