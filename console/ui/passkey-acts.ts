import { request } from '../api/request.ts';
import type { Data } from '../api/rows.ts';
import { t } from '../text/words.ts';

/** Whether this page can use passkeys: over https or on localhost, and at a host name. */
export const hasPasskeys = (): boolean =>
  'PublicKeyCredential' in globalThis && !/^(?:\d+(?:\.\d+){3}|\[.*\])$/.test(location.hostname);

/** The address of this page with a host name, for a local service opened by IP address. */
export const pageByName = (): URL | undefined => {
  const page = new URL(location.href);
  if (page.hostname !== '127.0.0.1') return undefined;
  page.hostname = 'localhost';
  return page;
};

/** Plain texts for the browser's errors, by name. */
const refusals: Readonly<Record<string, string>> = {
  NotAllowedError: t.passkeys.cancelled,
  InvalidStateError: t.passkeys.known,
  SecurityError: t.passkeys.otherAddress,
};

const inWords = async (asked: Promise<Credential | null>): Promise<Credential | null> => {
  try {
    return await asked;
  } catch (error) {
    const said = error instanceof DOMException ? refusals[error.name] : undefined;
    throw said === undefined ? error : new Error(said, { cause: error });
  }
};

/** A credential as the service takes it. */
const responseOf = (credential: Credential | null): Record<string, unknown> => {
  if (!(credential instanceof PublicKeyCredential)) throw new Error(t.passkeys.cancelled);
  return { ...credential.toJSON() };
};

/** Creates a passkey for the signed-in developer. Without a name it gets the service's. */
export const addPasskey = async (name: string): Promise<void> => {
  const { data } = await request('start-developer-registration', {});
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(data);
  const response = responseOf(await inWords(navigator.credentials.create({ publicKey })));
  await request('register-developer-passkey', { body: { response, ...(name === '' ? {} : { name }) } });
};

const askOptions = async (): Promise<PublicKeyCredentialRequestOptions> => {
  const { data } = await request('start-developer-passkey-sign-in', {});
  return PublicKeyCredential.parseRequestOptionsFromJSON(data);
};

const enterWith = (credential: Credential | null): Promise<{ readonly data: Data<'sign-in-developer'> }> =>
  request('sign-in-developer-with-passkey', { body: { response: responseOf(credential) } });

export const signInByPasskey = async () =>
  enterWith(await inWords(navigator.credentials.get({ publicKey: await askOptions() })));

/** Options expire after five minutes. */
const offeredMs = 4 * 60_000;

/** Resolves when somebody sees the page: many tabs wait at the sign-in, and ask for nothing. */
const seen = (stop: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (!document.hidden || stop.aborted) resolve();
    };
    look();
    document.addEventListener('visibilitychange', look, { signal: stop });
    stop.addEventListener('abort', look);
  });

/** One offer, with options that are good as long as it stands; `undefined` where it ended untaken. */
const offer = async (stop: AbortSignal): Promise<Credential | null | undefined> => {
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), offeredMs);
  const signal = AbortSignal.any([stop, ended.signal]);
  try {
    return await navigator.credentials.get({ publicKey: await askOptions(), mediation: 'conditional', signal });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
  }
};

/** The person's passkeys stand in the field of the address until `stop`; the one that is taken, if any. */
const taken = async (stop: AbortSignal): Promise<Credential | undefined> => {
  try {
    if (!(await PublicKeyCredential.isConditionalMediationAvailable())) return undefined;
    for (;;) {
      await seen(stop);
      if (stop.aborted) return undefined;
      const credential = await offer(stop);
      if (credential) return credential;
    }
  } catch {
    // What is not offered is no failure: there are the other ways.
    return undefined;
  }
};

/** Signs in by a passkey that the browser offers in the field of the address; `undefined` if none was taken. */
export const signInByOffer = async (stop: AbortSignal) => {
  const credential = await taken(stop);
  return credential && enterWith(credential);
};
