import type { Document } from 'mongodb';
import { clock } from '../core/clock.ts';
import { changeProject } from './change-project.ts';
import type { OwnedProject } from './find-project.ts';
import { hashApiKey, type KeyKind, type KeyRecord, newApiKey, type SigningKey, secretKeyHint } from './project.ts';

/** More rotations end the grace period of the oldest. */
const keysInGrace = 4;

/** Computed by the database, so that no concurrent rotation loses a key. */
const rotatedKeys = (added: KeyRecord, now: Date, graceEnd: Date): Document => {
  const ofKind = { $eq: ['$$key.kind', added.kind] };
  const ended = { $min: [{ $ifNull: ['$$key.expiresAt', graceEnd] }, graceEnd] };
  const others = { $filter: { input: '$keys', as: 'key', cond: { $not: [ofKind] } } };
  const old = {
    $map: {
      input: { $filter: { input: '$keys', as: 'key', cond: ofKind } },
      as: 'key',
      in: { $mergeObjects: ['$$key', { expiresAt: ended }] },
    },
  };
  const inGrace = { $filter: { input: old, as: 'key', cond: { $gt: ['$$key.expiresAt', now] } } };
  return { $concatArrays: [others, { $slice: [inGrace, -keysInGrace] }, [{ $literal: added }]] };
};

/**
 * Returns the new key, which is not shown again. The old one stops immediately or after `graceHours`; within 5 s
 * everywhere.
 */
export const rotateKey = async (owned: OwnedProject, kind: KeyKind, graceHours: number) => {
  const key = newApiKey(kind);
  const now = new Date(clock.now());
  const graceEnd = new Date(now.getTime() + graceHours * 3_600_000);
  const keys = rotatedKeys({ kind, hash: hashApiKey(key), expiresAt: null }, now, graceEnd);
  const shown = kind === 'publishable' ? { publishableKey: key } : { secretKeyHint: secretKeyHint(key) };
  await changeProject(owned, [{ $set: { keys, ...shown, updatedAt: now } }]);
  return { type: kind, key };
};

/**
 * How long a key is published before it signs. JOSE libraries cache key sets for up to 10 minutes, other caches for
 * `jwksMaxAgeSeconds`; after both, every verifier has the key.
 */
const publishedFirstMs = 20 * 60_000;

/** Twice as long as functions cache a project, so that all have stopped signing with the old key. */
const knownAfterMs = 10_000;

/** The old key signs until then, and its last access token expires 15 minutes later. */
const outlivesMs = publishedFirstMs + 900_000 + knownAfterMs;

/** With more than 19 rotations in 35 minutes, the oldest tokens end early. */
const keptKeys = 19;

/** Computed by the database, so that no concurrent rotation loses a key. */
const rotated = (added: SigningKey, now: Date, retiresAt: Date): Document => {
  const retired = { $mergeObjects: ['$$key', { retiresAt: { $ifNull: ['$$key.retiresAt', retiresAt] } }] };
  const old = { $map: { input: '$signingKeys', as: 'key', in: retired } };
  const signs = { $lte: [{ $ifNull: ['$$key.signsFrom', now] }, now] };
  const live = (cond: Document): Document => ({
    $filter: { input: old, as: 'key', cond: { $and: [{ $gt: ['$$key.retiresAt', now] }, cond] } },
  });
  // Keeps the key that signs now, or nobody could sign in until the next one does.
  const kept = { $concatArrays: [{ $slice: [live(signs), -keptKeys] }, live({ $not: [signs] })] };
  return { $concatArrays: [{ $slice: [kept, keptKeys] }, [{ $literal: added }]] };
};

/**
 * Adds a signing key. It is published immediately and signs 20 minutes later; existing tokens stay valid until they
 * expire. Returns its id and that time.
 */
export const rotateSigningKey = async (
  owned: OwnedProject,
  newSigningKey: (projectId: string) => Promise<SigningKey>,
) => {
  const now = new Date(clock.now());
  const made = await newSigningKey(owned.project.id);
  const signsFrom = new Date(now.getTime() + publishedFirstMs);
  const added = { ...made, signsFrom };
  const signingKeys = rotated(added, now, new Date(now.getTime() + outlivesMs));
  await changeProject(owned, [{ $set: { signingKeys, updatedAt: now } }]);
  return { kid: made.kid, signsFrom };
};
