import { nowSeconds } from '../core/clock.ts';
import { list } from '../table/item.ts';
import type { Key } from '../table/item-key.ts';
import { type SessionScope, userPrefix } from './session-keys.ts';

/** One open session of a user. `_id` is the `sid` of its access tokens. */
export interface Session {
  readonly _id: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly userAgent: string;
  readonly ip: string;
}

/** The item of a session: times in ms since 1970, but `expiresAt` in seconds. */
export type SessionItem = Key & {
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly ip: string;
  readonly userAgent: string;
  readonly expiresAt: number;
};

const toSession = ({ sk, createdAt, lastUsedAt, userAgent, ip }: SessionItem, prefix: string): Session => ({
  _id: sk.slice(prefix.length),
  createdAt: new Date(createdAt),
  lastUsedAt: new Date(lastUsedAt),
  userAgent,
  ip,
});

/** The sessions of a user that can still refresh, the one used last first. */
export const listSessions = async (scope: SessionScope, userId: string): Promise<readonly Session[]> => {
  const prefix = userPrefix(userId);
  const items = await list<SessionItem>({ partition: scope, only: { prefix } });
  return items
    .filter(({ expiresAt }) => expiresAt > nowSeconds())
    .map((item) => toSession(item, prefix))
    .sort((a, b) => b.lastUsedAt.getTime() - a.lastUsedAt.getTime());
};
