import { findById } from '../accounts/account-store.ts';
import { lastViewOf, userAccounts, userView } from '../accounts/users/users.ts';
import { findCollections } from '../collections/find-collections.ts';
import { usersCollection } from '../collections/names.ts';
import { isTrashed } from '../collections/trash-conditions.ts';
import { AppError } from '../core/errors.ts';
import { type JsonText, jsonOf } from '../core/json.ts';
import { describeError, log } from '../core/log.ts';
import { type Document, documentId, revisionOf } from '../documents/document.ts';
import { textOf, whole } from '../documents/query/projection.ts';
import { addressOf, shownName } from '../files/file-items.ts';
import { findFile } from '../files/list-files.ts';
import { onProject } from '../persistence/mongo.ts';
import { deserialize, findRaw, maxTimeMS } from '../persistence/raw-documents.ts';
import type { Project } from '../projects/project.ts';
import { deleteDelivery, rescheduleDelivery } from './outcomes.ts';
import { type DeliveryRecord, deliveryRecords, type WebhookRecord } from './records.ts';
import { postEvent, type Receipt, signedWebhookHeaders, signingSecrets } from './send.ts';

/** Documents in `data` are JSON already. */
export interface ProjectEvent {
  readonly id: string;
  readonly type: string;
  readonly at: Date;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Uses the resource's own time if it has one. */
const timeOf = ({ createdAt, at = createdAt }: DeliveryRecord, own?: unknown): Date =>
  own instanceof Date && !Number.isNaN(own.getTime()) ? own : at;

/** Returns the event with current data; `undefined` if there is nothing to send. */
type ReadEvent = (project: Project, name: string, entry: DeliveryRecord) => Promise<ProjectEvent | undefined>;

const isTold = ({ isNew, sent }: DeliveryRecord): boolean => !isNew || sent !== undefined;

const partsOf = ({ thing }: Pick<DeliveryRecord, 'thing'>): readonly [kind: string, name: string] => {
  const slash = thing.indexOf('/');
  return [thing.slice(0, slash), thing.slice(slash + 1)];
};

interface Found {
  readonly raw: Uint8Array;
  readonly stored: Document;
}

/** Reads the existing documents with one query. */
const documentsIn = async (project: Project, collection: string, ids: readonly string[]) => {
  const filter = { _id: { $in: ids.map(documentId) } };
  const settled = { readConcern: { level: 'majority' }, limit: ids.length } as const;
  const found = new Map<string, Found>();
  await onProject(project, async (db) => {
    for await (const batch of findRaw(db, collection, filter, { ...settled, maxTimeMS })) {
      for (const raw of batch) {
        const stored = deserialize(raw) as Document;
        found.set(stored._id.toHexString(), { raw, stored });
      }
    }
  });
  return found;
};

const ofDocument = (
  project: Project,
  collection: string,
  id: string,
  entry: DeliveryRecord,
  found: Found | undefined,
): ProjectEvent => {
  if (!found || isTrashed(found.stored)) {
    const rev = found ? revisionOf(found.stored) : 'gone';
    const at = timeOf(entry, found?.stored.deletedAt);
    return { id: `${id}.${rev}`, type: 'document.deleted', at, data: { collection, _id: id } };
  }
  const document: JsonText = textOf(project, found.raw, whole);
  const type = isTold(entry) ? 'document.updated' : 'document.created';
  const at = timeOf(entry, found.stored.updatedAt);
  return { id: `${id}.${revisionOf(found.stored)}`, type, at, data: { collection, document } };
};

const ofUser: ReadEvent = async (project, id, entry) => {
  const user = await findById(userAccounts(project), id);
  if (!user) {
    const last = entry.lastView && (await lastViewOf(id, entry.lastView));
    const at = timeOf(entry);
    if (last) return { id: `${id}.${last.rev}`, type: 'user.deleted', at, data: { user: last.user } };
    // After a delivery, only the fact of the deletion is kept.
    const isAgain = entry.isReplay && entry.type === 'user.deleted';
    return isAgain ? { id: `${id}.gone`, type: 'user.deleted', at, data: { user: { _id: id } } } : undefined;
  }
  const users = (await findCollections(project, [usersCollection])).get(usersCollection);
  if (!users) return undefined;
  const type = isTold(entry) ? 'user.updated' : 'user.created';
  const at = timeOf(entry, user.updatedAt);
  return { id: `${id}.${revisionOf({ ...user })}`, type, at, data: { user: userView(users, user) } };
};

const ofFile: ReadEvent = async (project, path, entry) => {
  const { file } = entry;
  const found = await findFile(project, path);
  if (found) {
    const { name, size, contentType, url } = found;
    const data = { path, name, size, contentType, url };
    return { id: `${path}.confirmed`, type: 'file.confirmed', at: timeOf(entry, found.createdAt), data };
  }
  if (!file?.isDeleted) return undefined;
  const { size, contentType, visibility } = file;
  const data = { path, name: shownName(path, file), size, contentType, url: addressOf(project, path, visibility) };
  return { id: `${path}.deleted`, type: 'file.deleted', at: timeOf(entry), data };
};

const ofTest: ReadEvent = (_project, id, entry) =>
  Promise.resolve({
    id: `test_${id}`,
    type: entry.type,
    at: timeOf(entry),
    data: { webhookId: entry.webhookId.toHexString() },
  });

const readers: Readonly<Record<string, ReadEvent>> = { user: ofUser, file: ofFile, test: ofTest };

interface DeliveryTarget {
  readonly entry: DeliveryRecord;
  readonly event: ProjectEvent | undefined;
}

export interface DueEvent extends DeliveryTarget {
  readonly event: ProjectEvent;
}

export const collectionOf = (entry: Pick<DeliveryRecord, 'thing'>): string | undefined => {
  const [kind, name] = partsOf(entry);
  return kind === 'document' ? name.split('/', 1)[0] : undefined;
};

export const sentId = (id: string): string => encodeURI(id);

/** Entries with the same source are read together: the documents of a collection, or one other resource. */
const sourceOf = (entry: DeliveryRecord): string => {
  const collection = collectionOf(entry);
  return collection === undefined ? entry.thing : `document/${collection}`;
};

/** Reads the current data of pending entries of one source. */
const eventsOf = async (project: Project, entries: readonly DeliveryRecord[]): Promise<readonly DeliveryTarget[]> => {
  const [first] = entries;
  if (!first) return [];
  const [kind, name] = partsOf(first);
  if (kind !== 'document') return [{ entry: first, event: await readers[kind]?.(project, name, first) }];
  const [collection = ''] = name.split('/', 1);
  const ids = entries.map((entry) => entry.thing.split('/')[2] ?? '');
  const found = await documentsIn(project, collection, ids);
  return entries.map((entry, index) => {
    const id = ids[index] ?? '';
    return { entry, event: ofDocument(project, collection, id, entry, found.get(id)) };
  });
};

const bodyOf = ({ type, at, data }: ProjectEvent): string => jsonOf({ type, timestamp: at.toISOString(), data });

const isTest = ({ thing }: Pick<DeliveryRecord, 'thing'>): boolean => thing.startsWith('test/');

const isWanted = ({ events }: WebhookRecord, { entry, event }: DeliveryTarget): boolean =>
  event !== undefined && (isTest(entry) || (events as readonly string[]).includes(event.type));

/** Events that the receiver already has, unless a replay was requested. One query per webhook. */
const repeatsIn = async ({ _id }: WebhookRecord, events: readonly DueEvent[]): Promise<readonly DueEvent[]> => {
  const asked = events.filter(({ entry }) => !entry.isReplay && !isTest(entry));
  const unknown = asked.filter(({ entry }) => entry.sent === undefined);
  const earlier = {
    webhookId: _id,
    thing: { $in: unknown.map(({ entry }) => entry.thing) },
    state: 'delivered' as const,
    sent: { $in: unknown.map(({ event }) => event.id) },
  };
  const had = unknown.length === 0 ? [] : await deliveryRecords.find(earlier, { projection: { thing: 1, sent: 1 } });
  return asked.filter(({ entry, event: { id } }) =>
    entry.sent === undefined ? had.some(({ thing, sent }) => thing === entry.thing && sent === id) : entry.sent === id,
  );
};

/** Entries wait while a customer's database is unavailable; its owner must fix that. */
const readSource = async (project: Project, entries: readonly DeliveryRecord[]): Promise<readonly DeliveryTarget[]> => {
  try {
    return await eventsOf(project, entries);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    log.warn({ job: 'deliver-webhooks', webhook: entries[0]?.webhookId.toHexString(), error: describeError(error) });
    await Promise.all(entries.map(rescheduleDelivery));
    return [];
  }
};

/** Returns the events to send with current data; deletes entries with nothing to send. */
export const loadDueEvents = async (
  project: Project,
  webhook: WebhookRecord,
  entries: readonly DeliveryRecord[],
): Promise<readonly DueEvent[]> => {
  const sources = [...Map.groupBy(entries, sourceOf).values()];
  const targets = (await Promise.all(sources.map((source) => readSource(project, source)))).flat();
  const wanted = targets.filter((one): one is DueEvent => isWanted(webhook, one));
  const repeats = await repeatsIn(webhook, wanted);
  const events = wanted.filter((one) => !repeats.includes(one));
  const sent = new Set(events.map(({ entry }) => entry));
  await Promise.all(targets.filter(({ entry }) => !sent.has(entry)).map(({ entry }) => deleteDelivery(entry)));
  return events;
};

/** Signs and sends an event. Repeats have the same id. */
export const sendEvent = async (webhook: WebhookRecord, event: ProjectEvent): Promise<Receipt> => {
  const body = bodyOf(event);
  const id = sentId(event.id);
  return postEvent(webhook.url, signedWebhookHeaders(await signingSecrets(webhook), id, body), body);
};
