import type { Collection as Documents, ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { pendingMailsAt } from '../../collections/effects/effect.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { usersCollection } from '../../collections/names.ts';
import { rightsOf } from '../../collections/schema/field-rights.ts';
import { clock } from '../../core/clock.ts';
import { type MailOfEffect, queueEffectMail } from '../../mail/effect-mail.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import type { Project } from '../../projects/project.ts';
import { findUser } from '../access/bind.ts';
import type { Document, JsonObject } from '../document.ts';
import { type PendingMail, pendingMailsOf } from './pending-mails.ts';

const pageSize = 50;

interface Stored {
  readonly _id: ObjectId;
  readonly _gone?: boolean;
  readonly _effects?: { readonly mails: readonly PendingMail[] };
}

const userOf = (project: Project, userId: string | undefined): Promise<JsonObject | undefined> =>
  findUser(project, { kind: 'publishable', ...(userId !== undefined && { userId }) }, true);

/** The fields of a user that an email may contain: the fields that everyone may see, and the verified address. */
const shownUser = async (project: Project, user: JsonObject | undefined): Promise<JsonObject | undefined> => {
  if (!user) return undefined;
  const users = (await findCollections(project, [usersCollection])).get(usersCollection);
  const hidden = new Set(users && rightsOf(users).read.map(({ segments: [root] }) => root));
  const names = (users?.schema ?? []).map(({ key }) => key).filter((key) => !hidden.has(key) && key !== 'password');
  const shown = ['_id', 'email', ...names].filter((name) => Object.hasOwn(user, name));
  return JSON.parse(JSON.stringify(Object.fromEntries(shown.map((name) => [name, user[name]]))));
};

/** The address that a pending email reaches, or why none. */
export const receiverOf = async (project: Project, { kind, to }: PendingMail): Promise<MailOfEffect['to']> => {
  if (to === '') return { address: undefined, reason: 'There is no address: the field is empty, or there is no user' };
  if (kind !== 'user') return { address: to };
  const user = await userOf(project, to);
  if (user?.emailVerified === undefined)
    return { address: undefined, reason: 'The user does not exist or is disabled' };
  if (typeof user.email === 'string') return { address: user.email };
  return { address: undefined, reason: 'The user has no verified email address' };
};

const queueOne = async (
  project: Project,
  { name }: Collection,
  { _id }: Document,
  pending: PendingMail,
): Promise<void> => {
  const { id, template, kind, user, effect, fields } = pending;
  const caller = await shownUser(project, await userOf(project, user));
  await queueEffectMail(project, {
    _id: id,
    template,
    to: await receiverOf(project, pending),
    ...(kind === 'open' && { open: { userId: user } }),
    of: { collection: name, id: String(_id), effect },
    variables: { ...JSON.parse(fields), ...(caller && { user: caller }) },
  });
};

/** Removes emails that are queued. Without a changes feed, a tombstone that had only these is removed too. */
const remove = async (
  documents: Documents<Stored>,
  { feed }: Collection,
  { _id, _gone }: Document,
  queued: readonly ObjectId[],
): Promise<void> => {
  if (_gone !== undefined && !feed) {
    const others = { '_effects.mails': { $elemMatch: { id: { $nin: [...queued] } } } };
    const { deletedCount } = await documents.deleteOne({ _id, _gone: { $exists: true }, $nor: [others] });
    if (deletedCount > 0) return;
  }
  await documents.updateOne({ _id }, { $pull: { '_effects.mails': { id: { $in: [...queued] } } } });
};

/**
 * Queues the pending emails of a collection's documents, the oldest first, until `end` (ms). An email is removed from
 * its document after it is queued. If a run ends in between, the next run finds the email in the mail log. Returns
 * whether all were queued.
 */
export const queueMails = async (project: Project, collection: Collection, end: number): Promise<boolean> => {
  for (;;) {
    const now = new Date(clock.now());
    const due = { [pendingMailsAt]: { $lte: now } };
    const options = {
      sort: { [pendingMailsAt]: 1 },
      limit: pageSize,
      projection: { _effects: 1, _gone: 1 },
      maxTimeMS,
    } as const;
    const documents = await onProject(project, (db) =>
      db.collection<Document>(collection.name).find(due, options).toArray(),
    );
    for (const document of documents) {
      const pending = pendingMailsOf(document).filter(({ at }) => at <= now);
      for (const each of pending) await queueOne(project, collection, document, each);
      const queued = pending.map(({ id }) => id);
      await onProject(project, (db) => remove(db.collection(collection.name), collection, document, queued));
      if (clock.now() >= end) return false;
    }
    if (documents.length < pageSize) return true;
  }
};
