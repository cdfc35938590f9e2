import type { Filter, ObjectId } from 'mongodb';
import { findById } from '../accounts/account-store.ts';
import { listSessions, sessionSeconds } from '../accounts/sessions.ts';
import {
  removalOfUser,
  sealLastView,
  type UserRecord,
  userAccounts,
  userRecords,
  withUserEvent,
} from '../accounts/users/users.ts';
import { loadCollection } from '../collections/find-collections.ts';
import { anonymousIndex } from '../collections/indexes/indexes.ts';
import { usersCollection } from '../collections/names.ts';
import { clock } from '../core/clock.ts';
import { log } from '../core/log.ts';
import { followLater, noteRemoval } from '../documents/store/cascade-records.ts';
import { projectScope } from '../persistence/item-keys.ts';
import { type PageJob, workThroughPages } from '../persistence/jobs.ts';
import { findProjectById } from '../projects/find-project.ts';
import type { Project } from '../projects/project.ts';
import { isHooked, type WebhookSource } from '../webhooks/events.ts';

/** How long an anonymous user is kept after the last session. */
const idleMs = 30 * 24 * 3600_000;

const dueAt = '_signIn.anonymous.checkAt';

/** The last view for the `user.deleted` webhook; empty if no webhook wants it. */
const lastViewFor = async (project: Project, _id: ObjectId): Promise<Partial<WebhookSource>> => {
  if (!isHooked(project, 'user')) return {};
  const [users, record] = [
    await loadCollection(project, usersCollection),
    await findById(userAccounts(project), _id.toHexString()),
  ];
  return record ? { lastView: await sealLastView(users, record) } : {};
};

/** Deletes the user after 30 more days without a session; returns true then. */
const checkUser = async (project: Project, { _id, _signIn }: UserRecord): Promise<boolean> => {
  const { checkAt, idle } = _signIn?.anonymous ?? {};
  if (!checkAt) return false;
  const seen: Filter<UserRecord> = { _id, [dueAt]: checkAt };
  const [latest] = await listSessions(projectScope(project.id), _id.toHexString());
  if (!latest && idle) {
    const remove = async (): Promise<boolean> => (await userRecords(project).deleteOne(seen)).deletedCount > 0;
    const noted = await noteRemoval(project, removalOfUser(_id));
    const isRemoved = await withUserEvent(
      project,
      'user.deleted',
      _id,
      remove,
      await lastViewFor(project, _id),
      Boolean,
    );
    await followLater(project, noted);
    return isRemoved;
  }
  const anonymous = latest
    ? { checkAt: new Date(latest.lastUsedAt.getTime() + sessionSeconds * 1000) }
    : { checkAt: new Date(checkAt.getTime() + idleMs), idle: true as const };
  await userRecords(project).updateOne(seen, { $set: { '_signIn.anonymous': anonymous } } as object);
  return false;
};

const idleUsers = (project: Project, removed: () => void): PageJob<UserRecord> => ({
  records: userRecords(project),
  dueAt,
  due: () => ({ [dueAt]: { $lte: new Date(clock.now()) } }),
  projection: { _signIn: 1 },
  page: 100,
  step: async (records) => {
    for (const record of records) if (await checkUser(project, record)) removed();
    return records.length;
  },
  limitMs: 60_000,
});

/** Can be repeated and run concurrently: each delete requires that the user is still anonymous. */
export const removeIdleUsers = async (projectId: string): Promise<void> => {
  const project = await findProjectById(projectId);
  if (!project?.hadAnonymous) return;
  // Collections that are older than anonymous users lack this index.
  await userRecords(project).on((users) => users.createIndexes([anonymousIndex]));
  let removed = 0;
  await workThroughPages(
    idleUsers(project, () => {
      removed += 1;
    }),
  );
  if (removed > 0) log.info({ job: 'remove-idle-users', project: projectId, removed });
};
