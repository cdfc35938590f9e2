import { ObjectId, type UpdateFilter } from 'mongodb';
import type { Scope } from '../accounts/developers/tokens/scopes.ts';
import { requireScopes, type TokenGrant } from '../accounts/developers/tokens/token-record.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { newId } from '../core/new-id.ts';
import { untilWritten } from '../core/until-written.ts';
import { deliveryRecords } from '../events/delivery-record.ts';
import { kindsOf, type WebhookEvent } from '../events/event-types.ts';
import { nudgeWebhooks } from '../events/nudge.ts';
import { type WebhookRecord, webhookRecords } from '../events/webhook-record.ts';
import { addHooks, keepHooks } from '../projects/hooked-kinds.ts';
import { plans } from '../projects/plans.ts';
import type { EventKind, Project } from '../projects/project.ts';
import { insertInSlot } from '../projects/slots.ts';
import { requireWebhook, toWebhookView, type WebhookView, webhookNotFound } from './find-webhooks.ts';
import { positionsOfNow, requireFeeds } from './positions.ts';
import { checkReceiver } from './receiver-url.ts';
import { newSecret, sealSecret, withReplaced } from './signing.ts';
import { type NewWebhook, parseCollections, parseEvents, type WebhookChanges } from './webhook-settings.ts';

/** A webhook with its secret, which is shown this once. */
type WebhookWithSecret = WebhookView & { readonly secret: string };

const readScopes: Readonly<Record<EventKind, Scope>> = {
  document: 'documents:read',
  user: 'users:read',
  file: 'storage:read',
};

/** The scopes that a personal access token needs to have these events delivered, which contain what happened to what. */
const scopesToReceive = (events: readonly WebhookEvent[]): readonly Scope[] =>
  kindsOf(events).map((kind) => readScopes[kind]);

const insert = async (project: Project, wanted: Omit<WebhookRecord, 'slot'>): Promise<WebhookRecord | null> => {
  const { webhooks: limit } = plans[project.plan];
  const others = await webhookRecords.find({ projectId: wanted.projectId }, { projection: { slot: 1 } });
  const what = `The ${project.plan} plan allows ${limit} webhooks a project, and this one has as many.`;
  return insertInSlot(webhookRecords, wanted, others, limit, () => new AppError('PLAN_LIMIT', what));
};

/**
 * Makes a webhook that is told of what happens from now on, and returns it with its secret. A personal access token that
 * may not read what the webhook receives → 403 `SCOPE_REQUIRED`; no proper address → 400 `INVALID_WEBHOOK`, a collection without a feed → 409 `CHANGES_NOT_ENABLED`, more than the plan allows → 403
 * `PLAN_LIMIT`, exact under parallel calls.
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
  const record = await untilWritten('Too many webhooks are being made at once. Please try again.', () =>
    insert(project, wanted),
  );
  await addHooks(projectId, kindsOf(events));
  return { ...toWebhookView(record), secret };
};

/** Switching off hands out nothing, so it needs no scope of what the webhook receives. */
const onlySwitchesOff = ({ enabled, ...others }: WebhookChanges): boolean =>
  enabled === false && Object.values(others).every((value) => value === undefined);

/** Writes a change unless another came between, then `null`. */
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
      // Later than it was, as it tells one change from the next.
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
 * Changes what is given of a webhook and leaves the rest. One that is switched on, and collections that come new, begin
 * from now. Nothing given → 400 `NOTHING_TO_UPDATE`; other refusals as `createWebhook` has them; unknown → 404.
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
  const busy = 'This webhook is being changed by others. Please try again.';
  const updated = await untilWritten(busy, () => edit(project, webhookId, changes, personalToken));
  await keepHooks(updated.projectId, () => kindsListenedTo(updated.projectId));
  await addHooks(updated.projectId, kindsOf(updated.events));
  await nudgeWebhooks(project.id);
  return toWebhookView(updated);
};

const kindsListenedTo = async (projectId: ObjectId): Promise<readonly EventKind[]> => {
  const left = await webhookRecords.find({ projectId }, { projection: { events: 1 } });
  return [...new Set(left.flatMap(({ events }) => kindsOf(events)))];
};

/** Deletes a webhook with its log; what is on its way at this moment may still arrive. Unknown → 404. */
export const deleteWebhook = async (project: Project, webhookId: string): Promise<void> => {
  const { _id, projectId } = await requireWebhook(project, webhookId);
  const { deletedCount } = await webhookRecords.deleteOne({ _id, projectId });
  if (deletedCount === 0) throw webhookNotFound();
  await deliveryRecords.deleteMany({ webhookId: _id });
  await keepHooks(projectId, () => kindsListenedTo(projectId));
};

/** Gives a webhook a new secret and returns it; for a day the one that it replaces signs too. Unknown → 404. */
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
