import { nowSeconds } from '../core/clock.ts';

/** Whose sessions: the end users of one project, or the developers. Partition key of their items in the table. */
export type SessionScope = `p#${string}` | 'd#developers';

/** Scope of the sessions of developers. */
export const developerScope: SessionScope = 'd#developers';

/** Scope of the sessions of a project's end users; `projectId`: 24 hex characters. */
export const projectScope = (projectId: string): SessionScope => `p#${projectId}`;

/** What the log-in of a session knew of the client, for the list of sessions. */
export interface Client {
  readonly ip: string;
  readonly userAgent: string;
}

/** A refresh token lives this long from the rotation that made it; so does the session with it. */
export const sessionSeconds = 7 * 24 * 3600;

/** When a session that is opened or refreshed now expires: seconds since 1970, as DynamoDB takes a number. */
export const sessionExpiry = (): string => String(nowSeconds() + sessionSeconds);

/** Prefix of the sort keys of all sessions of a user. */
export const userPrefix = (userId: string): string => `session#${userId}#`;

/** Key of the item of a session. */
export const sessionKey = (scope: SessionScope, userId: string, sessionId: string) => ({
  pk: { S: scope },
  sk: { S: userPrefix(userId) + sessionId },
});

/** Key of the item of a refresh token, by the hash of the token. */
export const refreshKey = (scope: SessionScope, hash: string) => ({ pk: { S: scope }, sk: { S: `refresh#${hash}` } });
