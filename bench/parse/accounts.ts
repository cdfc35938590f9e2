import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import type { LoadRequest } from '../load.ts';
import { inTurn } from '../operation.ts';
import { asApp } from './keys.ts';
import { newId } from './seed.ts';

/** A user with a session. */
export interface PeerPerson {
  readonly email: string;
  readonly token: string;
}

const yearMs = 365 * 86_400_000;

/** Adds users with this password hash and a session each, in Parse Server's stored form. */
export const addPeople = async (database: Db, emails: readonly string[], hash: string): Promise<PeerPerson[]> => {
  const now = new Date();
  const stamps = { _created_at: now, _updated_at: now };
  const users = emails.map((email) => {
    const id = newId();
    return {
      _id: id,
      username: email,
      email,
      _hashed_password: hash,
      _wperm: [id],
      _rperm: [id],
      _acl: { [id]: { w: true, r: true } },
      ...stamps,
    };
  });
  const sessions = users.map(({ _id }) => ({
    _id: newId(),
    _session_token: `r:${randomUUID().replaceAll('-', '')}`,
    _p_user: `_User$${_id}`,
    createdWith: { action: 'login', authProvider: 'password' },
    expiresAt: new Date(now.getTime() + yearMs),
    ...stamps,
  }));
  await database.collection<{ _id: string }>('_User').insertMany(users);
  await database.collection<{ _id: string }>('_Session').insertMany(sessions);
  return users.map(({ email }, index) => ({ email, token: sessions[index]?._session_token ?? '' }));
};

const headers = () => asApp;

/** Account operations with Parse Server's REST API. */
export const parseAccounts = {
  signUp: (password: string): LoadRequest => ({
    method: 'POST',
    headers,
    path: () => '/parse/users',
    body: () => {
      const email = `${randomUUID()}@example.com`;
      return JSON.stringify({ username: email, email, password });
    },
  }),
  logIn: (people: readonly PeerPerson[], password: string): LoadRequest => {
    const next = inTurn(people);
    return {
      method: 'POST',
      headers,
      path: () => '/parse/login',
      body: () => JSON.stringify({ username: next().email, password }),
    };
  },
  me: (people: readonly PeerPerson[]): LoadRequest => {
    const next = inTurn(people);
    return {
      method: 'GET',
      path: () => '/parse/users/me',
      headers: () => ({ ...asApp, 'x-parse-session-token': next().token }),
    };
  },
} as const;
