import type { LoadRequest } from '../load.ts';
import { inTurn } from '../operation.ts';
import { addPocketBaseUsers } from './seed.ts';
import type { PocketBase } from './start.ts';

const users = '/api/collections/users';

/** The number of users with a token, because each needs a sign-in. */
const signedIn = 8;

export interface PocketBasePeople {
  readonly emails: readonly string[];
  readonly tokens: readonly string[];
}

/** Adds users with this password and signs some of them in. */
export const addPocketBasePeople = async (
  pocketBase: PocketBase,
  emails: readonly string[],
  { hash, password }: { readonly hash: string; readonly password: string },
): Promise<PocketBasePeople> => {
  addPocketBaseUsers(pocketBase, emails, hash);
  const tokens: string[] = [];
  for (const identity of emails.slice(0, signedIn)) {
    const answer = await pocketBase.call<{ token: string }>('POST', `${users}/auth-with-password`, {
      identity,
      password,
    });
    tokens.push(answer.token);
  }
  return { emails, tokens };
};

/** Account operations with PocketBase's REST API. */
export const pocketBaseAccounts = {
  logIn: ({ emails }: PocketBasePeople, password: string): LoadRequest => {
    const identity = inTurn(emails);
    return {
      method: 'POST',
      path: () => `${users}/auth-with-password`,
      headers: () => ({ authorization: '' }),
      body: () => JSON.stringify({ identity: identity(), password }),
    };
  },
  /** Its tokens can be refreshed repeatedly until they expire. */
  refresh: ({ tokens }: PocketBasePeople): LoadRequest => {
    const token = inTurn(tokens);
    return {
      method: 'POST',
      path: () => `${users}/auth-refresh`,
      headers: () => ({ authorization: token() }),
    };
  },
} as const;
