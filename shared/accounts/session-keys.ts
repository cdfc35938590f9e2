import { nowSeconds } from '../core/clock.ts';
import { itemKey, type Key, type PartitionKey, sortPrefix } from '../table/item-key.ts';
import * as kinds from '../table/keys.ts';

/** Whose sessions: the end users of one project, or the developers. Partition key of their items in the table. */
export type SessionScope = PartitionKey<'project' | 'developers'>;

/** What the sign-in of a session knew of the client, for the list of sessions. */
export interface Client {
  readonly ip: string;
  readonly userAgent: string;
}

/** A refresh token lives this long from the rotation that made it; so does the session with it. */
export const sessionSeconds = 7 * 24 * 3600;

/** When a session that is opened or refreshed now expires: seconds since 1970. */
export const sessionExpiry = (): number => nowSeconds() + sessionSeconds;

/** Prefix of the sort keys of all sessions of a user. */
export const userPrefix = (userId: string): string => sortPrefix(kinds.session, { userId });

/** Key of the item of a session. */
export const sessionKey = (scope: SessionScope, userId: string, sessionId: string): Key =>
  itemKey(kinds.session, scope, { userId, sessionId });

/** Key of the item of a refresh token, by the hash of the token. */
export const refreshKey = (scope: SessionScope, hash: string): Key => itemKey(kinds.refreshToken, scope, { hash });
