import { findById } from '../accounts/account-store.ts';
import { userAccounts } from '../accounts/stores/users.ts';
import { lastViewOf } from '../accounts/users/last-view.ts';
import { userView } from '../accounts/users/user-record.ts';
import { findFirstRaw } from '../clients/find-raw.ts';
import { onProject } from '../clients/mongo.ts';
import { deserialize } from '../clients/raw-documents.ts';
import { findCollections } from '../collections/find-collections.ts';
import { usersCollection } from '../collections/schema/collection-name.ts';
import { type JsonText, jsonOf } from '../core/json-text.ts';
import { type Document, documentId } from '../documents/document.ts';
import { textOf, whole } from '../documents/read/projection.ts';
import { revisionOf } from '../documents/revision.ts';
import { isTrashed } from '../documents/trash/trash-conditions.ts';
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

const ofDocument: Tell = async (project, name, row) => {
  const [collection = '', id = ''] = name.split('/', 2);
  const settled = { maxTimeMS: 5000, readConcern: { level: 'majority' } } as const;
  const raw = await onProject(project, (db) => findFirstRaw(db, collection, { _id: documentId(id) }, settled));
  const stored = raw && (deserialize(raw) as Document);
  if (!raw || !stored || isTrashed(stored)) {
    const rev = stored ? revisionOf(stored) : 'gone';
    return { id: `${id}.${rev}`, type: 'document.deleted', data: { collection, _id: id } };
  }
  const document: JsonText = textOf(project, raw, whole);
  const type = isTold(row) ? 'document.updated' : 'document.created';
  return { id: `${id}.${revisionOf(stored)}`, type, data: { collection, document } };
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

const tells: Readonly<Record<string, Tell>> = { document: ofDocument, user: ofUser, file: ofFile, test: ofTest };

/** What a waiting row has to tell, as its thing is now. */
export const eventOf = async (project: Project, row: DeliveryRecord): Promise<ProjectEvent | undefined> => {
  const slash = row.thing.indexOf('/');
  return tells[row.thing.slice(0, slash)]?.(project, row.thing.slice(slash + 1), row);
};

/** The body of a delivery. */
export const bodyOf = ({ type, data }: ProjectEvent, at: Date): string =>
  jsonOf({ type, timestamp: at.toISOString(), data });
