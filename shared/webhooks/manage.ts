import { ObjectId, type UpdateFilter } from 'mongodb';
import * as v from 'valibot';
import type { Scope } from '../accounts/developers/scopes.ts';
import { requireScopes, type TokenGrant } from '../accounts/developers/tokens.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { retryOnConflict } from '../core/retry.ts';
import { listOf } from '../core/text.ts';
import type { Page, PageRequest } from '../core/values.ts';
import { idOf, type View, viewOf } from '../core/values.ts';
import { requirePublic } from '../outbound/http.ts';
import { findPage } from '../persistence/records.ts';
import { addHooks, keepHooks } from '../projects/change-project.ts';
import { insertInSlot } from '../projects/create-project.ts';
import { plans } from '../projects/plans.ts';
import type { EventKind, Project } from '../projects/project.ts';
import { kindsOf, type WebhookEvent, webhookEvents } from './event-types.ts';
import { wakeWebhookWorker } from './events.ts';
import { positionsOfNow, requireFeeds } from './feeds.ts';
import { deliveryRecords, type WebhookRecord, webhookRecords } from './records.ts';
import { newSecret, sealSecret, withReplaced } from './send.ts';

const shown = ['_id', 'url', 'events', 'enabled', 'createdAt', 'updatedAt'] as const;

/** `collections` is absent if it names none. */
interface WebhookView extends View<WebhookRecord, (typeof shown)[number]> {
  readonly collections?: readonly string[];
}

const toWebhookView = (record: WebhookRecord): WebhookView => ({
  ...viewOf(record, shown),
  ...(record.collections && { collections: record.collections }),
});

const webhookNotFound = (): AppError => new AppError('WEBHOOK_NOT_FOUND', 'Webhook not found');

/** Throws 404 `WEBHOOK_NOT_FOUND`. */
export const requireWebhook = async (project: Pick<Project, 'id'>, webhookId: string): Promise<WebhookRecord> => {
  const _id = idOf(webhookId);
  const record = _id && (await webhookRecords.findOne({ _id, projectId: new ObjectId(project.id) }));
  if (!record) throw webhookNotFound();
  return record;
};

export const getWebhook = async (project: Pick<Project, 'id'>, webhookId: string): Promise<WebhookView> =>
  toWebhookView(await requireWebhook(project, webhookId));

export const listWebhooks = ({ id }: Pick<Project, 'id'>, request: PageRequest): Promise<Page<WebhookView>> =>
  findPage(webhookRecords, { projectId: new ObjectId(id) }, request, { sort: { _id: -1 } }, toWebhookView);

const maxLength = 2000;

/** 400 `INVALID_WEBHOOK` naming the field. */
export const invalidWebhook = (field: string, message: string, cause?: unknown): AppError =>
  new AppError('INVALID_WEBHOOK', message, { cause, errors: [{ field, message }] });

/**
 * Normalizes a receiver's URL. Throws 400 `INVALID_WEBHOOK` unless it is `https` on a public host, without credentials
 * and fragment.
 */
export const checkReceiver = async (text: string): Promise<string> => {
  const url = text.length <= maxLength ? URL.parse(text) : null;
  if (!url) throw invalidWebhook('url', `url must be an address of at most ${maxLength} characters, https://…`);
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw invalidWebhook('url', 'url must have no user name, password or fragment');
  }
  await requirePublic(url, 'url', invalidWebhook);
  return url.href;
};

const text = v.string('must be a String');
/** A generous limit; the exact rules follow below. */
const texts = listOf(text, 1000, 'must have at most 1000 entries', 'must be an Array of Strings');
const enabled = v.optional(v.boolean('must be a Boolean'));

export const newWebhookEntries = { url: text, events: texts, collections: v.optional(v.nullable(texts)), enabled };

export const webhookChangesEntries = {
  url: v.optional(text),
  events: v.optional(texts),
  collections: v.optional(v.nullable(texts)),
  enabled,
};

type Output<E extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<E, undefined>>;

/** Without `collections`: all with a changes feed. */
type NewWebhook = Output<typeof newWebhookEntries>;

type WebhookChanges = Output<typeof webhookChangesEntries>;

const isEvent = (name: string): name is WebhookEvent => (webhookEvents as readonly string[]).includes(name);

const maxCollections = 100;

/** Throws 400 `INVALID_WEBHOOK` for none, unknown or duplicate events. */
const parseEvents = (names: readonly string[]): readonly WebhookEvent[] => {
  const known = [...new Set(names)].filter(isEvent);
  if (known.length > 0 && known.length === names.length) return known;
  throw invalidWebhook('events', `events must name one or more of ${webhookEvents.join(', ')}, each once.`);
};

/** `undefined`: all with a feed. Throws 400 `INVALID_WEBHOOK` for an empty list and duplicates. */
const parseCollections = (names: readonly string[] | null | undefined): readonly string[] | undefined => {
  if (!names) return undefined;
  const isProper = names.length > 0 && names.length <= maxCollections && new Set(names).size === names.length;
  if (isProper) return names;
  throw invalidWebhook(
    'collections',
    `collections must name 1 to ${maxCollections} collections, each once. Leave it out, or send null, for all that have a changes feed.`,
  );
};

type WebhookWithSecret = WebhookView & { readonly secret: string };

const readScopes: Readonly<Record<EventKind, Scope>> = {
  document: 'documents:read',
  user: 'users:read',
  file: 'storage:read',
};

/** Scopes that a personal access token needs, because events contain the data. */
const scopesToReceive = (events: readonly WebhookEvent[]): readonly Scope[] =>
  kindsOf(events).map((kind) => readScopes[kind]);

const insert = async (project: Project, wanted: Omit<WebhookRecord, 'slot'>): Promise<WebhookRecord | null> => {
  const { webhooks: limit } = plans[project.plan];
  const others = await webhookRecords.find({ projectId: wanted.projectId }, { projection: { slot: 1 } });
  const what = `The ${project.plan} plan allows ${limit} webhooks in a project. Delete one first.`;
  return insertInSlot(webhookRecords, wanted, others, limit, () => new AppError('PLAN_LIMIT', what));
};

/**
 * Creates a webhook for events from now on; only this response contains the secret. Throws 403 `SCOPE_REQUIRED`, 400
 * `INVALID_WEBHOOK`, 409 `CHANGES_NOT_ENABLED`, 403 `PLAN_LIMIT` (exact under concurrency).
 */
export const createWebhook = async (
  project: Project,
  { url, enabled = true, ...named }: NewWebhook,
  personalToken: TokenGrant | undefined,
): Promise<WebhookWithSecret> => {
  const events = parseEvents(named.events);
  requireScopes(personalToken, scopesToReceive(events));
  const collections = parseCollections(named.collections);
  const listening = { events, ...(collections && { collections }) };
  const receiver = await checkReceiver(url);
  await requireFeeds(project, listening);
  const [_id, projectId, secret, now] = [newId(), new ObjectId(project.id), newSecret(), new Date(clock.now())];
  await addHooks(projectId, kindsOf(events));
  const wanted: Omit<WebhookRecord, 'slot'> = {
    _id,
    projectId,
    url: receiver,
    ...listening,
    enabled,
    sealedSecret: await sealSecret(secret, _id.toHexString()),
    positions: await positionsOfNow(project, listening),
    nudges: 0,
    leasedUntil: new Date(0),
    dueAt: now,
    createdAt: now,
    updatedAt: now,
  };
  const record = await retryOnConflict('Too many webhooks are being created at the same time. Retry.', () =>
    insert(project, wanted),
  );
  await addHooks(projectId, kindsOf(events));
  return { ...toWebhookView(record), secret };
};

/** Switching off reveals nothing, so it needs no scope of the events. */
const onlySwitchesOff = ({ enabled, ...others }: WebhookChanges): boolean =>
  enabled === false && Object.values(others).every((value) => value === undefined);

/** `null` if another change came between. */
const edit = async (
  project: Project,
  webhookId: string,
  changes: WebhookChanges,
  personalToken: TokenGrant | undefined,
): Promise<WebhookRecord | null> => {
  const record = await requireWebhook(project, webhookId);
  const { _id, projectId, updatedAt } = record;
  const { url, enabled = record.enabled } = changes;
  const events = changes.events ? parseEvents(changes.events) : record.events;
  if (!onlySwitchesOff(changes)) requireScopes(personalToken, scopesToReceive(events));
  const collections = changes.collections === undefined ? record.collections : parseCollections(changes.collections);
  const listening = { events, ...(collections && { collections }) };
  const receiver = url === undefined ? record.url : await checkReceiver(url);
  if (changes.collections) await requireFeeds(project, listening);
  const now = new Date(clock.now());
  const isSwitchedOn = enabled && !record.enabled;
  const positions = await positionsOfNow(project, listening, isSwitchedOn ? {} : record.positions);
  await addHooks(projectId, kindsOf(events));
  const moved = Object.entries(positions).filter(([id, at]) => record.positions[id] !== at);
  const gone = Object.keys(record.positions).filter((id) => !positions[id]);
  const update = {
    $set: {
      url: receiver,
      ...listening,
      enabled,
      // Strictly increasing, because it detects concurrent changes.
      updatedAt: new Date(Math.max(now.getTime(), updatedAt.getTime() + 1)),
      dueAt: now,
      ...Object.fromEntries(moved.map(([id, at]) => [`positions.${id}`, at])),
    },
    $unset: {
      ...Object.fromEntries(gone.map((id) => [`positions.${id}`, ''])),
      ...(!collections && { collections: '' }),
      ...((isSwitchedOn || receiver !== record.url) && { failingSince: '', isSlow: '' }),
    },
    $inc: { nudges: 1 },
  } as UpdateFilter<WebhookRecord>;
  return webhookRecords.findOneAndUpdate({ _id, updatedAt }, update, { returnDocument: 'after' });
};

/**
 * Newly enabled webhooks and added collections start now. Throws 400 `NOTHING_TO_UPDATE`, 404, and like
 * `createWebhook`.
 */
export const updateWebhook = async (
  project: Project,
  webhookId: string,
  changes: WebhookChanges,
  personalToken: TokenGrant | undefined,
): Promise<WebhookView> => {
  if (Object.values(changes).every((value) => value === undefined)) {
    throw new AppError('NOTHING_TO_UPDATE', 'Name at least one field to change.');
  }
  const busy = 'Other requests are changing this webhook. Retry.';
  const updated = await retryOnConflict(busy, () => edit(project, webhookId, changes, personalToken));
  await keepHooks(updated.projectId, () => kindsListenedTo(updated.projectId));
  await addHooks(updated.projectId, kindsOf(updated.events));
  await wakeWebhookWorker(project.id);
  return toWebhookView(updated);
};

const kindsListenedTo = async (projectId: ObjectId): Promise<readonly EventKind[]> => {
  const left = await webhookRecords.find({ projectId }, { projection: { events: 1 } });
  return [...new Set(left.flatMap(({ events }) => kindsOf(events)))];
};

/** Deletes the webhook and its log; deliveries in flight may still arrive. Throws 404. */
export const deleteWebhook = async (project: Project, webhookId: string): Promise<void> => {
  const { _id, projectId } = await requireWebhook(project, webhookId);
  const { deletedCount } = await webhookRecords.deleteOne({ _id, projectId });
  if (deletedCount === 0) throw webhookNotFound();
  await deliveryRecords.deleteMany({ webhookId: _id });
  await keepHooks(projectId, () => kindsListenedTo(projectId));
};

/** Returns the new secret; the old one also signs for a day. Throws 404. */
export const rotateWebhookSecret = async (project: Project, webhookId: string): Promise<WebhookWithSecret> => {
  const record = await requireWebhook(project, webhookId);
  const secret = newSecret();
  const sealedSecret = await sealSecret(secret, record._id.toHexString());
  const updated = await webhookRecords.findOneAndUpdate(
    { _id: record._id },
    [{ $set: { replaced: withReplaced(), sealedSecret, updatedAt: new Date(clock.now()) } }],
    { returnDocument: 'after' },
  );
  if (!updated) throw webhookNotFound();
  return { ...toWebhookView(updated), secret };
};
