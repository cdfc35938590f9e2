import { signal } from '@preact/signals';
import { ask } from './ask.ts';
import { dropDrafts } from './drafts.ts';
import { problemOf } from './problem.ts';
import { callOf, type Data } from './rows.ts';

type SignIn = Data<'sign-in-developer'>;
export type Developer = SignIn['developer'];

/** Who is signed in; `undefined` until it is known, `null` for nobody. */
export const developer = signal<Developer | null | undefined>(undefined);

/** True while the session has ended under a page that stays in place, so that nothing typed is lost. */
export const sessionEnded = signal(false);

/** The access token lives in this page alone; the refresh cookie is out of reach of any script. */
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
  // The page shows what the developer before could see.
  if (isAnother) location.assign('/');
  else resume(token);
};

const forget = (): void => {
  accessToken = undefined;
  developer.value = null;
  resume(undefined);
};

/** Leaves the page, whose session has ended, for the sign-in page. Drafts stay in this tab. */
export const leaveEndedSession = forget;

/** Takes what a sign-in answered; other tabs that wait at the sign-in go on. */
export const signedIn = (answer: SignIn): void => {
  take(answer);
  others.postMessage('signed in');
};

/** Forgets who was signed in, here and in the other tabs, and what they typed. */
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
    // A tab with unsaved work keeps it until its token ends.
    renew().catch(() => undefined);
  }
};

/** Where the key of this browser's renewals is kept, for every page of the console. */
const keyName = 'basalt:renewal-key';

/** By it a renewal whose answer was lost, with its page or its connection, is repeated and not taken for a theft. */
const renewalKey = (): string => {
  const key = localStorage.getItem(keyName) ?? crypto.randomUUID();
  localStorage.setItem(keyName, key);
  return key;
};

const exchange = async (): Promise<SignIn> => {
  const { method, path } = callOf('refresh-developer', {});
  const headers = { 'idempotency-key': renewalKey() };
  // The answer sets the next cookie, so it has to arrive even where the page is left meanwhile.
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
 * A fresh access token, or `undefined` if no one is signed in. If the session has ended under a page, requests wait for
 * the sign-in over that page. One renewal serves all that wait; tabs take turns, because each renewal uses up the
 * cookie that they share.
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
