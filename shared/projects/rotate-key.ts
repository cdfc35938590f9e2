import type { Document } from 'mongodb';
import { clock } from '../core/clock.ts';
import { hashApiKey, newApiKey } from './api-key.ts';
import { changeProject } from './change-project.ts';
import type { OwnedProject } from './find-owned-project.ts';
import { type KeyKind, type KeyRecord, secretKeyHint } from './project-record.ts';

/** Old keys of one kind that may be in their grace at the same time; the oldest stops before its time. */
const keysInGrace = 4;

/** Computed by the database from the keys it holds, so that parallel rotations cannot lose one. */
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

/** A new key of one kind, shown this once. The old one stops at once, or after `graceHours`; everywhere within 5 s. */
export const rotateKey = async (
  owned: OwnedProject,
  kind: KeyKind,
  graceHours: number,
): Promise<{ readonly type: KeyKind; readonly key: string }> => {
  const key = newApiKey(kind);
  const now = new Date(clock.now());
  const graceEnd = new Date(now.getTime() + graceHours * 3_600_000);
  const keys = rotatedKeys({ kind, hash: hashApiKey(key), expiresAt: null }, now, graceEnd);
  const shown = kind === 'publishable' ? { publishableKey: key } : { secretKeyHint: secretKeyHint(key) };
  await changeProject(owned, [{ $set: { keys, ...shown, updatedAt: now } }]);
  return { type: kind, key };
};
