import { hash } from 'node:crypto';
import { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import type { Effect } from '../../collections/effects/effect.ts';
import { rightsOf } from '../../collections/schema/field-rights.ts';
import { clock } from '../../core/clock.ts';
import { workQueueSettings } from '../../core/config.ts';
import { tryOrLog } from '../../core/log.ts';
import { requestIdNow } from '../../core/request.ts';
import { onProject } from '../../persistence/mongo.ts';
import { sendDelayed, wakeUps } from '../../persistence/wake.ts';
import type { Task } from '../../persistence/work-queue.ts';
import type { Project } from '../../projects/project.ts';
import type { AccessContext } from '../access/access.ts';
import { wholeAt } from '../access/decide.ts';
import { type Document, type JsonObject, present } from '../document.ts';
import { afterwards, currentScope } from '../store/joint-scope.ts';
import { wireDocument } from '../wire.ts';
import { copy } from './compute.ts';

/**
 * An email that a write of a document caused, stored in `_effects.mails` by the same write, and removed once it is
 * queued.
 */
export interface PendingMail {
  /** Made of document, revision and effect; also the id in the mail log. */
  readonly id: ObjectId;
  /** When it is queued at the earliest. */
  readonly at: Date;
  /** The effect's key. */
  readonly effect: string;
  readonly template: string;
  /** `user`: `to` is the id of a user, whose verified address counts. `open`: `to` is any address. */
  readonly kind: 'address' | 'user' | 'open';
  /** Empty if the document or the caller names no one. */
  readonly to: string;
  /** The id of the caller's user. */
  readonly user?: string;
  /** The fields of the document that the email may show, as JSON. */
  readonly fields: string;
}

/** A document with its pending emails. */
export const pendingMailsOf = ({ _effects }: Document): readonly PendingMail[] =>
  (_effects as { readonly mails?: readonly PendingMail[] } | undefined)?.mails ?? [];

/** Without transactions, a write may be undone until its request ends. */
const undoableMs = 60_000;

const pendingFrom = (): Date => {
  const scope = currentScope.getStore();
  return new Date(clock.now() + (scope && !scope.isAtomic ? undoableMs : 0));
};

const idOf = (
  { project, collection }: AccessContext,
  { _id }: Document,
  revision: number,
  { key }: Effect,
): ObjectId => {
  const bytes = hash('sha256', [project.id, collection.name, _id, revision, key].join(' '), 'buffer');
  bytes.writeUInt32BE(Math.floor(clock.now() / 1000), 0);
  return new ObjectId(bytes.subarray(0, 12));
};

/** Longer values, as JSON, are left out. */
const maxValueLength = 4000;

/** Of all fields together. */
const maxLength = 32_000;

/** Only the fields that everyone who may read the document may see, because an email leaves the service. */
const shownFields = ({ collection }: AccessContext, document: Document): string => {
  const hidden = new Set(rightsOf(collection).read.map(({ segments: [root] }) => root));
  const shown: Record<string, unknown> = {};
  let left = maxLength;
  for (const [name, value] of Object.entries(present(document))) {
    if (hidden.has(name)) continue;
    const json: string = JSON.stringify(wireDocument({ value: copy(value) }));
    if (json.length > Math.min(maxValueLength, left)) continue;
    left -= json.length;
    shown[name] = JSON.parse(json).value;
  }
  return JSON.stringify(shown);
};

const textAt = (document: JsonObject, path: string): string => {
  const value = wholeAt(document, path);
  return value instanceof ObjectId ? value.toHexString() : typeof value === 'string' ? value : '';
};

const receiverOf = (
  { to }: NonNullable<Effect['mail']>,
  document: Document,
  userId: string | undefined,
): Pick<PendingMail, 'kind' | 'to'> => {
  switch (to.kind) {
    case 'address':
      return { kind: 'address', to: to.address };
    case 'user':
      return { kind: 'user', to: userId ?? '' };
    case 'userIn':
      return { kind: 'user', to: textAt(document, to.path) };
    case 'open':
      return { kind: 'open', to: textAt(document, to.path).trim() };
  }
};

/** The emails of effects for a document that is about to be stored at a revision. */
export const pendingMails = (
  context: AccessContext,
  effects: readonly Effect[],
  document: Document,
  revision: number,
): readonly PendingMail[] => {
  if (effects.length === 0) return [];
  const { kind, userId } = context.caller;
  const user = kind === 'publishable' ? userId : undefined;
  const fields = shownFields(context, document);
  return effects.flatMap((effect) =>
    effect.mail
      ? [
          {
            id: idOf(context, document, revision, effect),
            at: pendingFrom(),
            effect: effect.key,
            template: effect.mail.template,
            ...receiverOf(effect.mail, document, user),
            ...(user !== undefined && { user }),
            fields,
          },
        ]
      : [],
  );
};

/** Queues the task `run-effects` of a collection. */
const queueEffects = async (key: string, seconds: number): Promise<void> => {
  const [projectId = '', collection = ''] = key.split(' ');
  const task: Task = { task: 'run-effects', projectId, collection, requestId: requestIdNow() };
  await sendDelayed(workQueueSettings().WORK_QUEUE_URL, JSON.stringify(task), seconds);
};

const wakeUp = wakeUps('Emails of effects wait for the schedule', queueEffects);

/** Emails of writes that can no longer be undone are released immediately. */
const release = async (project: Project, { name }: Collection, written: readonly Document[]): Promise<void> => {
  const ids = written.flatMap((document) => pendingMailsOf(document).map(({ id }) => id));
  const filter = { _id: { $in: written.map(({ _id }) => _id) } };
  const update = { $set: { '_effects.mails.$[mail].at': new Date(clock.now()) } };
  await tryOrLog('warn', { message: 'Emails of effects are a minute late', project: project.id }, () =>
    onProject(project, (db) =>
      db.collection(name).updateMany(filter, update, { arrayFilters: [{ 'mail.id': { $in: ids } }] }),
    ),
  );
};

/** After the commit, wakes the worker if written documents have emails to send. Without effects it sends no command. */
export const wakeForMails = async (
  { project, collection }: Pick<AccessContext, 'project' | 'collection'>,
  written: readonly Document[],
): Promise<void> => {
  const sending = written.filter((document) => pendingMailsOf(document).length > 0);
  if (sending.length === 0) return;
  await afterwards(async (scope) => {
    if (scope && !scope.isAtomic) await release(project, collection, sending);
    await wakeUp.wake(`${project.id} ${collection.name}`);
  });
};
