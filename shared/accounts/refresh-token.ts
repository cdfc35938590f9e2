import { hash, randomBytes } from 'node:crypto';
import type { Bearer } from './session-jwt.ts';

/** A refresh token taken apart: whose it claims to be, and the hash it is stored under. Ids are 24 hex characters. */
export interface RefreshToken extends Bearer {
  readonly hash: string;
}

const idBytes = 12;
const secretBytes = 32;
const wellFormed = /^[A-Za-z0-9_-]{75}$/;

const hashOf = (token: string): string => hash('sha256', token, 'base64url');

/** A new opaque token: base64url of user id, session id and 256 random bits. Only its hash is ever stored. */
export const newRefreshToken = (
  userId: string,
  sessionId: string,
): { readonly token: string; readonly hash: string } => {
  const ids = Buffer.from(userId + sessionId, 'hex');
  if (ids.length !== 2 * idBytes) throw new Error('User and session ids are 24 hexadecimal characters');
  const token = Buffer.concat([ids, randomBytes(secretBytes)]).toString('base64url');
  return { token, hash: hashOf(token) };
};

/** Takes a token apart; `undefined` for what cannot be one. The ids are claims until the hash is found. */
export const parseRefreshToken = (token: string): RefreshToken | undefined => {
  if (!wellFormed.test(token)) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  return {
    userId: bytes.toString('hex', 0, idBytes),
    sessionId: bytes.toString('hex', idBytes, 2 * idBytes),
    hash: hashOf(token),
  };
};
