import { nowSeconds } from '../clock.ts';

/** Whose sessions: the end users of one project, or the developers. Partition key of their items in the table. */
export type SessionScope = `p#${string}` | 'd#developers';

export const developerScope: SessionScope = 'd#developers';

export const projectScope = (projectId: string): SessionScope => `p#${projectId}`;

/** What the log-in of a session knew of the client, for the list of sessions. */
export interface Client {
  readonly ip: string;
  readonly userAgent: string;
}

/** A refresh token lives this long from the rotation that made it; so does the session with it. */
export const sessionSeconds = 7 * 24 * 3600;

export const sessionExpiry = (): string => String(nowSeconds() + sessionSeconds);

export const userPrefix = (userId: string): string => `session#${userId}#`;

export const sessionKey = (scope: SessionScope, userId: string, sessionId: string) => ({
  pk: { S: scope },
  sk: { S: userPrefix(userId) + sessionId },
});

export const refreshKey = (scope: SessionScope, hash: string) => ({ pk: { S: scope }, sk: { S: `refresh#${hash}` } });
