import { findById } from '../accounts/account-store.ts';
import { userAccounts } from '../accounts/stores/users.ts';
import { lastViewOf } from '../accounts/users/last-view.ts';
import { userView } from '../accounts/users/user-record.ts';
import { findRaw, maxTimeMS } from '../clients/find-raw.ts';
import { onProject } from '../clients/mongo.ts';
import { deserialize } from '../clients/raw-documents.ts';
import { findCollections } from '../collections/find-collections.ts';
import { usersCollection } from '../collections/schema/collection-name.ts';
import { isTrashed } from '../collections/trash-conditions.ts';
import { type JsonText, jsonOf } from '../core/json-text.ts';
import { type Document, documentId } from '../documents/document.ts';
import { textOf, whole } from '../documents/read/projection.ts';
import { revisionOf } from '../documents/revision.ts';
import type { DeliveryRecord } from '../events/delivery-record.ts';
import { addressOf } from '../files/file-address.ts';
import { nameIn } from '../files/file-path.ts';
import { findFile } from '../files/list-files.ts';
import type { Project } from '../projects/project.ts';

/** What is sent: the id of the event, its type, and its data, whose documents are JSON already. */
export interface ProjectEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What there is to say of a thing now; `undefined` where there is nothing (any more). */
type Tell = (project: Project, name: string, row: DeliveryRecord) => Promise<ProjectEvent | undefined>;

const isTold = ({ isNew, sent }: DeliveryRecord): boolean => !isNew || sent !== undefined;

const partsOf = ({ thing }: Pick<DeliveryRecord, 'thing'>): readonly [kind: string, name: string] => {
  const slash = thing.indexOf('/');
  return [thing.slice(0, slash), thing.slice(slash + 1)];
};

interface Found {
  readonly raw: Uint8Array;
  readonly stored: Document;
}

/** Those documents of a collection that are there, by their ids, in one find. */
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
  row: DeliveryRecord,
  found: Found | undefined,
): ProjectEvent => {
  if (!found || isTrashed(found.stored)) {
    const rev = found ? revisionOf(found.stored) : 'gone';
    return { id: `${id}.${rev}`, type: 'document.deleted', data: { collection, _id: id } };
  }
  const document: JsonText = textOf(project, found.raw, whole);
  const type = isTold(row) ? 'document.updated' : 'document.created';
  return { id: `${id}.${revisionOf(found.stored)}`, type, data: { collection, document } };
};

const ofUser: Tell = async (project, id, row) => {
  const user = await findById(userAccounts(project), id);
  if (!user) {
    const last = row.lastView && (await lastViewOf(id, row.lastView));
    if (last) return { id: `${id}.${last.rev}`, type: 'user.deleted', data: { user: last.user } };
    // Once it was delivered nothing of them is kept but that they were.
    const isAgain = row.isReplay && row.type === 'user.deleted';
    return isAgain ? { id: `${id}.gone`, type: 'user.deleted', data: { user: { _id: id } } } : undefined;
  }
  const users = (await findCollections(project, [usersCollection])).get(usersCollection);
  if (!users) return undefined;
  const type = isTold(row) ? 'user.updated' : 'user.created';
  return { id: `${id}.${revisionOf({ ...user })}`, type, data: { user: userView(users, user) } };
};

const ofFile: Tell = async (project, path, { file }) => {
  const found = await findFile(project, path);
  if (found) {
    const { name, size, contentType, url } = found;
    const data = { path, name, size, contentType, url };
    return { id: `${path}.confirmed`, type: 'file.confirmed', data };
  }
  if (!file?.isDeleted) return undefined;
  const { size, contentType, visibility } = file;
  const data = { path, name: nameIn(path), size, contentType, url: addressOf(project, path, visibility) };
  return { id: `${path}.deleted`, type: 'file.deleted', data };
};

const ofTest: Tell = (_project, id, { webhookId, type }) =>
  Promise.resolve({ id: `test_${id}`, type, data: { webhookId: webhookId.toHexString() } });

const tells: Readonly<Record<string, Tell>> = { user: ofUser, file: ofFile, test: ofTest };

/** A row, and what it has to tell; `undefined` where that is nothing (any more). */
export interface Telling {
  readonly row: DeliveryRecord;
  readonly event: ProjectEvent | undefined;
}

/** A row of which there is something to send. */
export interface DueEvent extends Telling {
  readonly event: ProjectEvent;
}

/** The collection of a row that is about a document. */
export const collectionOf = (row: Pick<DeliveryRecord, 'thing'>): string | undefined => {
  const [kind, name] = partsOf(row);
  return kind === 'document' ? name.split('/', 1)[0] : undefined;
};

/** The id of an event as the header `webhook-id` has it. */
export const sentId = (id: string): string => encodeURI(id);

/** What rows are read by together: documents of a collection, or a thing of another kind alone. */
export const sourceOf = (row: DeliveryRecord): string => {
  const collection = collectionOf(row);
  return collection === undefined ? row.thing : `document/${collection}`;
};

/** What waiting rows of one source have to tell, as their things are now. */
export const eventsOf = async (project: Project, rows: readonly DeliveryRecord[]): Promise<readonly Telling[]> => {
  const [first] = rows;
  if (!first) return [];
  const [kind, name] = partsOf(first);
  if (kind !== 'document') return [{ row: first, event: await tells[kind]?.(project, name, first) }];
  const [collection = ''] = name.split('/', 1);
  const ids = rows.map((row) => row.thing.split('/')[2] ?? '');
  const found = await documentsIn(project, collection, ids);
  return rows.map((row, index) => {
    const id = ids[index] ?? '';
    return { row, event: ofDocument(project, collection, id, row, found.get(id)) };
  });
};

/** The body of a delivery. */
export const bodyOf = ({ type, data }: ProjectEvent, at: Date): string =>
  jsonOf({ type, timestamp: at.toISOString(), data });
