import { expect } from 'vitest';
import {
  type CreationOptions,
  type Credential,
  makePasskey,
  type Oddity,
  type RequestOptions,
  usePasskey,
} from '../clients/passkey-device.ts';
import type { SignIn, UsersProject } from './users.ts';

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

/** The routes of passkeys of a project, and what a device does for them. */
export const passkeysOf = ({ auth }: UsersProject) => {
  const options = async (token: string): Promise<CreationOptions> => {
    const answer = await auth<{ data: CreationOptions }>('POST', 'passkeys/registration', { token });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body.data;
  };
  const challenge = async (): Promise<RequestOptions> => {
    const answer = await auth<{ data: RequestOptions }>('POST', 'passkeys/authentication');
    expect(answer).toMatchObject({ status: 200 });
    return answer.body.data;
  };
  const verify = (token: string, body: object) =>
    auth<{ readonly data: PasskeyView }>('POST', 'passkeys/registration/verify', { token, body });
  const enter = (response: unknown) =>
    auth<SignIn>('POST', 'passkeys/authentication/verify', { body: { response }, headers: inHeader });
  return {
    options,
    challenge,
    verify,
    enter,
    /** A credential that is the user's by now. */
    add: async (token: string, odd: Oddity = {}, alg?: number): Promise<Credential & { readonly _id: string }> => {
      const { credential, response } = makePasskey(await options(token), odd, alg);
      const answer = await verify(token, { response });
      expect(answer).toMatchObject({ status: 201 });
      return Object.assign(credential, { _id: answer.body.data._id });
    },
    signIn: async (credential: Credential, odd: Oddity = {}) => enter(usePasskey(credential, await challenge(), odd)),
    list: async (token: string): Promise<readonly PasskeyView[]> =>
      (await auth<{ data: readonly PasskeyView[] }>('GET', 'passkeys', { token })).body.data,
  };
};
