import { ObjectId } from 'mongodb';
import { clock, dayMs } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { newId } from '../core/new-id.ts';
import { untilWritten } from '../core/until-written.ts';
import { hashApiKey, newApiKey } from './api-key.ts';
import { plans } from './plans.ts';
import type { PlanName, SigningKey } from './project.ts';
import { type KeyKind, type KeyRecord, type ProjectRecord, projectRecords, secretKeyHint } from './project-record.ts';
import { toProjectView } from './project-view.ts';
import type { NewProject } from './settings.ts';
import { insertInSlot } from './slots.ts';

const keyRecord = (kind: KeyKind, key: string): KeyRecord => ({ kind, hash: hashApiKey(key), expiresAt: null });

/** Stores the record in a free slot; the unique index on the slot decides between parallel callers. */
const insert = (project: Omit<ProjectRecord, 'slot'>, plan: PlanName): Promise<ProjectRecord> =>
  untilWritten('Too many projects are being made at once. Please try again.', async () => {
    const { projects: limit } = plans[plan];
    const { ownerId } = project;
    const others = await projectRecords.find({ ownerId, state: 'active' }, { projection: { slot: 1 } });
    const what = `The ${plan} plan allows ${limit} projects. Delete one, or ask the operator of this service for a larger plan.`;
    return insertInSlot(projectRecords, project, others, limit, () => new AppError('PLAN_LIMIT', what));
  });

/**
 * Makes a project of a developer with both of its keys; the secret one is shown this once and kept as a hash only.
 * Over the plan's projects → 403 `PLAN_LIMIT`, exact under any number of parallel calls.
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
      ...(settings.signIn && { signIn: settings.signIn }),
      ...(settings.uploads && { uploads: settings.uploads }),
      signingKeys: [await newSigningKey(_id.toHexString())],
      // Nothing in its trash can be old enough before.
      trashDueAt: new Date(now.getTime() + dayMs),
      createdAt: now,
      updatedAt: now,
    },
    owner.plan,
  );
  return { ...toProjectView(record, owner.plan), secretKey };
};
