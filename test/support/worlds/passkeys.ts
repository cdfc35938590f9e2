import { expect, inject } from 'vitest';
import type { Answer, RequestOptions as CallOptions } from '../clients/client.ts';
import {
  type CreationOptions,
  type Credential,
  makePasskey,
  type Oddity,
  type RequestOptions,
  usePasskey,
} from '../clients/passkey-device.ts';
import { auth, type DashboardSignIn } from './developers.ts';
import { type SignIn, site, type UsersProject } from './users.ts';

export interface PasskeyView {
  readonly _id: string;
  readonly name: string;
  readonly lastUsedAt: string | null;
  readonly locked: boolean;
}

/** Those of a project with passkeys, and pages on several hosts. */
export const passkeySettings = {
  signIn: { passkey: true, anonymous: true, emailCode: true, secondFactor: 'optional' },
  allowedDomains: ['*', 'below.app.example.com', 'https://app.example.com:8443', 'other.example.com'],
};

const inHeader = { 'x-refresh-token-mode': 'header' };

/** Calls a route of accounts, of a project's users or of developers. */
type Call = <Body>(method: string, path: string, options?: CallOptions) => Promise<Answer<Body>>;

/** The routes of passkeys of some accounts, and what a browser on their page, and a device, do for them. */
const passkeysAt = <Entered, Listed>(call: Call, origin: string, listed: (data: Listed) => readonly PasskeyView[]) => {
  const make = (options: CreationOptions, odd: Oddity = {}, alg?: number) =>
    makePasskey(options, { origin, ...odd }, alg);
  const use = (credential: Credential, options: RequestOptions, odd: Oddity = {}) =>
    usePasskey(credential, options, { origin, ...odd });
  const options = async (token: string): Promise<CreationOptions> => {
    const answer = await call<{ data: CreationOptions }>('POST', 'passkeys/registration', { token });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body.data;
  };
  const challenge = async (): Promise<RequestOptions> => {
    const answer = await call<{ data: RequestOptions }>('POST', 'passkeys/authentication');
    expect(answer).toMatchObject({ status: 200 });
    return answer.body.data;
  };
  const verify = (token: string, { response, name }: { readonly response?: unknown; readonly name?: string }) =>
    call<{ readonly data: PasskeyView }>('POST', 'passkeys/registration/verify', { token, body: { response, name } });
  const enter = (response: unknown) =>
    call<Entered>('POST', 'passkeys/authentication/verify', { body: { response }, headers: inHeader });
  return {
    origin,
    make,
    use,
    options,
    challenge,
    verify,
    enter,
    /** A credential that is somebody's by now. */
    add: async (token: string, odd: Oddity = {}, alg?: number): Promise<Credential & { readonly _id: string }> => {
      const { credential, response } = make(await options(token), odd, alg);
      const answer = await verify(token, { response });
      expect(answer).toMatchObject({ status: 201 });
      return Object.assign(credential, { _id: answer.body.data._id });
    },
    signIn: async (credential: Credential, odd: Oddity = {}) => enter(use(credential, await challenge(), odd)),
    list: async (token: string): Promise<readonly PasskeyView[]> =>
      listed((await call<{ data: Listed }>('GET', 'passkeys', { token })).body.data),
  };
};

/** Those of a project's users, on the page of its site unless another is given. */
export const passkeysOf = ({ auth: call }: UsersProject, origin = site) =>
  passkeysAt<SignIn, readonly PasskeyView[]>(call, origin, (data) => data);

/** Where browsers have passkeys of the local console: `localhost`, as 127.0.0.1 is no name. */
export const consoleOrigin = (): string => inject('stack').dashboardUrl.replace('127.0.0.1', 'localhost');

/** Those of developers, on the console's page at an origin. */
export const developerPasskeys = (origin = consoleOrigin()) =>
  passkeysAt<DashboardSignIn, { readonly items: readonly PasskeyView[] }>(auth, origin, ({ items }) => items);
