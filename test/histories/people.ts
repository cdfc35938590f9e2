import { randomBytes } from 'node:crypto';
import type { Answer } from '../support/clients/client.ts';
import { newId } from './documents.ts';
import type { History, Output } from './history.ts';
import { Keys } from './keys.ts';
import { pick, type Random } from './random.ts';
import type { Service } from './service.ts';

const isMember = { team: { $in: { $from: 'members', select: 'team', where: { user: { $user: '_id' } } } } };

export const peopleCollections = [
  {
    name: 'users',
    schema: [
      { key: 'email', type: 'String', required: true, unique: true },
      { key: 'password', type: 'String', required: true },
    ],
  },
  {
    name: 'members',
    schema: [
      { key: 'team', type: 'String' },
      { key: 'user', type: 'String' },
    ],
  },
  {
    name: 'cards',
    schema: [{ key: 'team', type: 'String' }],
    rls: { enabled: true, mode: 'rules', rules: { read: isMember } },
  },
];

interface Body extends Record<string, unknown> {
  readonly code?: string;
  readonly accessToken?: string;
  readonly refreshToken?: string;
  readonly user?: { readonly _id: string };
}

const statusOf = ({ status, body }: Answer<Body>): Output => ({ status, ...(status >= 300 && { code: body.code }) });

interface User {
  readonly id: string;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Signs users in and renews their access tokens before they expire. */
export class People {
  readonly #service: Service;
  readonly #users: { readonly email: string; user?: User; since: number; address: string }[];

  constructor(service: Service, count: number) {
    this.#service = service;
    const email = () => `${randomBytes(6).toString('hex')}@example.com`;
    this.#users = Array.from({ length: count }, () => ({ email: email(), since: 0, address: '' }));
  }

  async enter(route: 'signup' | 'login', email: string): Promise<User | undefined> {
    const response = await this.#service.api<Body>('POST', `/api/userAuth/${route}`, {
      key: this.#service.publishableKey,
      body: { email, password: 'kept-password' },
      headers: { 'x-refresh-token-mode': 'header' },
    });
    const { accessToken, refreshToken, user } = response?.body ?? {};
    return accessToken && refreshToken && user ? { id: user._id, accessToken, refreshToken } : undefined;
  }

  async signUp(): Promise<void> {
    for (const each of this.#users) await this.enter('signup', each.email);
  }

  /** A new session of a user, or none during a fault. */
  session(random: Random): Promise<User | undefined> {
    return this.enter('login', pick(random, this.#users).email);
  }

  /** A user with a valid access token, or none during a fault. */
  async user(random: Random): Promise<User | undefined> {
    const each = pick(random, this.#users);
    const renewMs = 600_000;
    const address = this.#service.address();
    if (each.user && each.address === address && Date.now() - each.since < renewMs) return each.user;
    const user = await this.enter('login', each.email);
    if (user) Object.assign(each, { user, since: Date.now(), address });
    return user;
  }
}

/** Users are added to teams and removed, and read a card that only members of its team may read. */
export const memberships = (service: Service, history: History, people: People) => {
  interface Team {
    readonly card: string;
    readonly created: Promise<unknown>;
    readonly members: Map<string, string>;
  }
  const newTeam = (): Team => {
    const card = newId();
    const options = { body: { team: card }, headers: { 'if-none-match': '*' } };
    const created = (async () => {
      for (;;) {
        const response = await service.api('PUT', `/api/data/cards/${card}`, options);
        if (response && response.status < 500) return;
      }
    })();
    return { card, created, members: new Map() };
  };
  const teams = new Keys(2, 300, newTeam);
  return async (client: number, random: Random): Promise<void> => {
    const { card, created, members } = teams.next(random).key;
    await created;
    const user = await people.user(random);
    if (!user) return;
    const address = service.address();
    // The service may have started again in between.
    const hasToken = () => address === service.address();
    const key = `${card} ${user.id}`;
    const member = members.get(user.id) ?? newId();
    members.set(user.id, member);
    const path = `/api/data/members/${member}`;
    const [op, send] = pick(random, [
      [
        'add',
        () =>
          service.api<Body>('PUT', path, {
            body: { team: card, user: user.id },
            headers: { 'if-none-match': '*' },
          }),
      ],
      ['remove', () => service.api<Body>('DELETE', `${path}?permanent=true`)],
      ...Array.from({ length: 2 }, () => [
        'read',
        () =>
          service.api<Body>('GET', `/api/data/cards/${card}`, {
            key: service.publishableKey,
            token: user.accessToken,
          }),
      ]),
    ] as [string, () => Promise<Answer<Body> | undefined>][]);
    await history.record(client, { model: 'member', key, input: { op } }, send, (response) =>
      response.status === 401 && !hasToken() ? undefined : statusOf(response),
    );
  };
};

/** Clients refresh sessions: several use the same refresh token at the same time. */
export const sessions = (service: Service, history: History, people: People) => {
  interface Session {
    readonly key: string;
    current: Promise<string | undefined>;
  }
  let random: Random = () => 0;
  const open = (): Session => ({
    key: randomBytes(8).toString('hex'),
    current: people.session(random).then((user) => user?.refreshToken),
  });
  const all = new Keys(3, 60, open);
  return async (client: number, ownRandom: Random): Promise<void> => {
    random = ownRandom;
    const { key: session } = all.next(ownRandom);
    const token = await session.current;
    if (token === undefined) return all.drop(session);
    const refresh = () =>
      service.api<Body>('POST', '/api/userAuth/refresh-token', {
        key: service.publishableKey,
        headers: { 'x-refresh-token': token, 'x-refresh-token-mode': 'header' },
      });
    const operation = { model: 'session', key: session.key, input: { token } } as const;
    const response = await history.record(client, operation, refresh, ({ status, body }) => ({
      status,
      next: body.refreshToken ?? '',
    }));
    if (response?.status === 200) session.current = Promise.resolve(response.body.refreshToken);
    // The next token is lost with the response.
    else if (!response || response.status >= 500) all.drop(session);
  };
};
