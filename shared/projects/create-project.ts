import { randomInt } from 'node:crypto';
import { type Document, ObjectId, type OptionalUnlessRequiredId } from 'mongodb';
import { clock, dayMs } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { onDuplicateKey, retryOnConflict } from '../core/retry.ts';
import type { Records } from '../persistence/records.ts';
import { plans } from './plans.ts';
import {
  hashApiKey,
  type KeyKind,
  type KeyRecord,
  newApiKey,
  type PlanName,
  type ProjectRecord,
  projectRecords,
  type SigningKey,
  secretKeyHint,
} from './project.ts';
import { toProjectView } from './project-view.ts';
import type { NewProject } from './settings.ts';

/** A random one of the smallest free slots, so that concurrent callers rarely collide. */
const choice = 16;

/**
 * Returns a free slot; `undefined` if `limit` slots are taken (`null`: no limit). A unique index keeps slots unique.
 * Only as many of the smallest slots are open as the plan has places left, so that concurrent callers stay within the
 * limit.
 */
export const freeSlot = (used: readonly number[], limit: number | null): number | undefined => {
  const places = limit === null ? choice : Math.min(choice, limit - used.length);
  if (places <= 0) return undefined;
  const taken = new Set(used);
  const free: number[] = [];
  for (let slot = 0; free.length < places; slot++) {
    if (!taken.has(slot)) free.push(slot);
  }
  return free[randomInt(free.length)];
};

/** Stores a record in a free slot; `null` if another caller took it. Throws `full` if none is free. */
export const insertInSlot = async <R extends Document>(
  records: Records<R>,
  record: Omit<R, 'slot'>,
  others: readonly { readonly slot?: number }[],
  limit: number | null,
  full: () => AppError,
): Promise<R | null> => {
  const slot = freeSlot(
    others.flatMap((other) => other.slot ?? []),
    limit,
  );
  if (slot === undefined) throw full();
  const stored: Document = { ...record, slot };
  const inserted = records.insertOne(stored as OptionalUnlessRequiredId<R>);
  return (await onDuplicateKey(inserted, () => null)) && (stored as R);
};

const keyRecord = (kind: KeyKind, key: string): KeyRecord => ({ kind, hash: hashApiKey(key), expiresAt: null });

const insert = (project: Omit<ProjectRecord, 'slot'>, plan: PlanName): Promise<ProjectRecord> =>
  retryOnConflict('Too many projects are being created at the same time. Retry.', async () => {
    const { projects: limit } = plans[plan];
    const { ownerId } = project;
    const others = await projectRecords.find({ ownerId, state: 'active' }, { projection: { slot: 1 } });
    const what = `The ${plan} plan allows ${limit} projects. Delete one, or ask the operator of this service for a larger plan.`;
    return insertInSlot(projectRecords, project, others, limit, () => new AppError('PLAN_LIMIT', what));
  });

/**
 * Creates a project and its keys; only this response contains the secret key, of which a hash is stored. Throws 403
 * `PLAN_LIMIT`; exact under concurrency.
 */
export const createProject = async (
  owner: { readonly id: string; readonly plan: PlanName },
  settings: NewProject,
  newSigningKey: (projectId: string) => Promise<SigningKey>,
) => {
  const _id = newId();
  const publishableKey = newApiKey('publishable');
  const secretKey = newApiKey('secret');
  const now = new Date(clock.now());
  const record = await insert(
    {
      _id,
      ownerId: new ObjectId(owner.id),
      state: 'active',
      name: settings.name,
      keys: [keyRecord('publishable', publishableKey), keyRecord('secret', secretKey)],
      publishableKey,
      secretKeyHint: secretKeyHint(secretKey),
      placement: { kind: 'managed', cell: 'main' },
      siteUrl: settings.siteUrl ?? null,
      allowedDomains: settings.allowedDomains ?? ['*'],
      allowPublicSignup: settings.allowPublicSignup ?? true,
      authEnabled: settings.authEnabled ?? false,
      ...(settings.strictSessions && { strictSessions: true }),
      ...(settings.signIn && { signIn: settings.signIn }),
      ...(settings.uploads && { uploads: settings.uploads }),
      signingKeys: [await newSigningKey(_id.toHexString())],
      // Nothing in its trash can be due earlier.
      trashDueAt: new Date(now.getTime() + dayMs),
      createdAt: now,
      updatedAt: now,
    },
    owner.plan,
  );
  return { ...toProjectView(record, owner.plan), secretKey };
};
