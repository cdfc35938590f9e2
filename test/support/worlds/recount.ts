import { type Document, ObjectId } from 'mongodb';
import { plans } from '../../../shared/projects/plans.ts';
import type { PlanName } from '../../../shared/projects/project.ts';
import { importedId } from '../../../shared/transfers/import-batch.ts';
import type { ImportRecord } from '../../../shared/transfers/transfer.ts';
import type { Deployment, Item } from './deployment.ts';

/** What does not add up, each a sentence for whoever reads the failed test. */
type Complaints = string[];

const bytesIn = (items: readonly Item[]): number => items.reduce((sum, { bytes }) => sum + Number(bytes?.N ?? 0), 0);
const numberIn = (item: Item, name: string): number => Number(item[name]?.N ?? 0);
const sortKey = (item: Item): string => item.sk?.S ?? '';
const starting = (items: readonly Item[], prefix: string): Item[] =>
  items.filter((item) => sortKey(item).startsWith(prefix));

const compare = (complaints: Complaints, what: string, counted: unknown, recounted: unknown): void => {
  const [is, should] = [JSON.stringify(counted), JSON.stringify(recounted)];
  if (is !== should) complaints.push(`${what} is ${is}, and a recount gives ${should}`);
};

const duplicates = (values: readonly unknown[]): unknown[] =>
  values.filter((value, index) => values.indexOf(value) !== index);

/** Storage: `used`, `held` and `files` of each counter are what its items come to. */
const recountStorage = (items: readonly Item[], complaints: Complaints): void => {
  for (const counter of starting(items, 'quota#storage#')) {
    const storage = sortKey(counter).slice('quota#storage#'.length);
    const files = starting(items, `file#${storage}#`);
    const uploads = starting(items, `upload#${storage}#`);
    const [used, held] = [bytesIn(files), bytesIn(files) + bytesIn(uploads)];
    const counted = { used: numberIn(counter, 'used'), held: numberIn(counter, 'held') };
    compare(complaints, `storage ${storage}`, counted, { used, held });
    compare(complaints, `files in ${storage}`, numberIn(counter, 'files'), files.length);
  }
};

/** Objects: each file has its bytes; once all is swept nothing else lies there. */
const recountObjects = async (
  at: Deployment,
  projectId: string,
  items: readonly Item[],
  settled: boolean,
  complaints: Complaints,
): Promise<void> => {
  const [files, pending] = await Promise.all([at.objects(`files/${projectId}/`), at.objects(`pending/${projectId}/`)]);
  const known = new Map(
    starting(items, 'file#managed#').map((item) => [
      `files/${projectId}/${sortKey(item).slice('file#managed#'.length)}`,
      numberIn(item, 'bytes'),
    ]),
  );
  for (const [key, bytes] of known) compare(complaints, `bytes of ${key}`, files.get(key), bytes);
  if (!settled) return;
  for (const key of [...files.keys(), ...pending.keys()]) if (!known.has(key)) complaints.push(`${key} is nobody's`);
  for (const item of starting(items, 'upload#')) complaints.push(`${sortKey(item)} waits for ever`);
};

/** Mails of user accounts and of the service take no slot. */
const takesSlot = ({ templateUsed }: Document): boolean =>
  !['verification', 'password-reset'].includes(templateUsed as string);

/** Mail: a month has used a slot for each of its mails that has not failed, and holds those that are under way. */
const recountMail = async (
  at: Deployment,
  projectId: string,
  items: readonly Item[],
  settled: boolean,
  complaints: Complaints,
): Promise<void> => {
  const rows = await at.control('mailLogs', { projectId: new ObjectId(projectId) });
  const months = new Map<string, Document[]>();
  for (const row of rows.filter(takesSlot)) {
    const job = row.job as Document | undefined;
    const month = (job?.slot as string | undefined) ?? (row.createdAt as Date).toISOString().slice(0, 7);
    months.set(month, [...(months.get(month) ?? []), row]);
  }
  const counters = starting(items, 'quota#mail#');
  const counted = new Set(counters.map((item) => sortKey(item).slice('quota#mail#'.length)));
  for (const month of months.keys()) if (!counted.has(month)) complaints.push(`mails of ${month} were never counted`);
  for (const counter of counters) {
    const month = sortKey(counter).slice('quota#mail#'.length);
    const own = months.get(month) ?? [];
    const ids = new Set(own.map(({ _id }) => String(_id)));
    // With the shared key also how many recipients each has, after a point.
    const held = (counter.held?.SS ?? []).map((text) => text.split('.')[0] ?? '');
    const kept = own.filter(({ _id, status }) => status !== 'failed' || held.includes(String(_id)));
    const unaccepted = held.filter((id) => !ids.has(id));
    compare(complaints, `mails used in ${month}`, numberIn(counter, 'used'), kept.length + unaccepted.length);
    if (settled && held.length > 0) complaints.push(`slots of ${month} stay held: ${held.join(' ')}`);
  }
  if (!settled) return;
  for (const { _id, status, job } of rows) if (job) complaints.push(`mail ${_id} (${status}) is never done with`);
};

/** Sessions: each has exactly one refresh token that is good. */
const recountSessions = (items: readonly Item[], complaints: Complaints): void => {
  const good = new Map<string, number>();
  for (const { sessionId, usedAt } of starting(items, 'refresh#')) {
    if (sessionId?.S && !usedAt) good.set(sessionId.S, (good.get(sessionId.S) ?? 0) + 1);
  }
  for (const item of starting(items, 'session#')) {
    const id = sortKey(item).split('#')[2] ?? '';
    compare(complaints, `good refresh tokens of session ${id}`, good.get(id) ?? 0, 1);
  }
};

/** Users: no address and no place twice, and no more of them than the plan allows. */
const recountUsers = async (at: Deployment, projectId: string, plan: PlanName, complaints: Complaints) => {
  const users = await at.mongo
    .db(`p_${projectId}`)
    .collection('users')
    .find({}, { projection: { email: 1, planSlot: 1 } })
    .toArray();
  const limit = plans[plan].users;
  compare(complaints, 'addresses of two users', duplicates(users.map(({ email }) => email as string)), []);
  if (limit === null) return;
  compare(complaints, 'places of two users', duplicates(users.map(({ planSlot }) => planSlot as number)), []);
  if (users.length > limit) complaints.push(`${users.length} users, and the plan allows ${limit}`);
};

/** Collections: the records and what the database has are the same; no record waits, none has another's place. */
const recountCollections = async (at: Deployment, project: Document, settled: boolean, complaints: Complaints) => {
  const records = await at.control('collections', { projectId: project._id as ObjectId });
  compare(complaints, 'places of two collections', duplicates(records.map(({ slot }) => slot as number)), []);
  if (!settled) return;
  for (const { name, state } of records) if (state !== 'active') complaints.push(`${name} stays ${state}`);
  if ((project.placement as Document).kind !== 'managed') return;
  const there = await at.mongo.db(`p_${project._id}`).listCollections({}, { nameOnly: true }).toArray();
  const names = records.map(({ name }) => name as string).sort();
  compare(complaints, 'collections in the database', there.map(({ name }) => name).sort(), names);
};

/** Transfers: none waits for ever, and an import has stored as many documents as it says. */
const recountTransfers = async (at: Deployment, project: Document, settled: boolean, complaints: Complaints) => {
  for (const transfer of await at.control('transfers', { projectId: project._id as ObjectId })) {
    const { _id, kind, state, active, line, inserted, idSeed } = transfer as Document & ImportRecord;
    if (settled && active) complaints.push(`${kind} ${_id} stays ${state}`);
    if (!settled || kind !== 'import') continue;
    const ids = Array.from({ length: line }, (_, index) => importedId({ _id, idSeed }, index + 1));
    const documents = at.mongo.db(`p_${project._id}`).collection(transfer.collectionName as string);
    compare(complaints, `imported by ${_id}`, inserted, await documents.countDocuments({ _id: { $in: ids } }));
  }
};

/**
 * Counts anew what a project's counters count, and names what does not add up. `settled`: all that waits for a job has
 * had it, so that nothing may be under way or left behind any more.
 */
export const recountProject = async (at: Deployment, projectId: string, settled: boolean): Promise<string[]> => {
  const complaints: Complaints = [];
  const [project] = await at.control('projects', { _id: new ObjectId(projectId) });
  if (!project) return remainsOf(at, projectId);
  const [owner] = await at.control('developers', { _id: project.ownerId as ObjectId });
  const plan = (owner?.plan as PlanName | undefined) ?? 'free';
  const items = await at.items(`p#${projectId}`);
  recountStorage(items, complaints);
  recountSessions(items, complaints);
  await recountObjects(at, projectId, items, settled, complaints);
  await recountMail(at, projectId, items, settled, complaints);
  await recountUsers(at, projectId, plan, complaints);
  await recountCollections(at, project, settled, complaints);
  await recountTransfers(at, project, settled, complaints);
  return complaints.map((complaint) => `project ${projectId}: ${complaint}`);
};

const ownedRecords = ['auditEntries', 'collections', 'mailLogs', 'mailSuppressions', 'mailTemplates', 'transfers'];

/** What is left of a project that is gone. */
export const remainsOf = async (at: Deployment, projectId: string): Promise<string[]> => {
  const complaints: Complaints = [];
  for (const name of ownedRecords) {
    const { length } = await at.control(name, { projectId: new ObjectId(projectId) });
    if (length > 0) complaints.push(`${length} ${name}`);
  }
  for (const item of await at.items(`p#${projectId}`)) complaints.push(`item ${sortKey(item)}`);
  for (const folder of ['files', 'pending', 'exports', 'imports']) {
    for (const key of (await at.objects(`${folder}/${projectId}/`)).keys()) complaints.push(key);
  }
  const { databases } = await at.mongo.db().admin().listDatabases({ nameOnly: true });
  if (databases.some(({ name }) => name === `p_${projectId}`)) complaints.push('its database');
  return complaints.map((complaint) => `project ${projectId} is gone, but for ${complaint}`);
};

/** The same for every project that there is a trace of, and for the developers' own places and sessions. */
export const recountAll = async (at: Deployment, settled: boolean): Promise<string[]> => {
  const complaints: Complaints = [];
  const projects = await at.control('projects');
  const active = projects.filter(({ state }) => state === 'active');
  const places = active.map(({ ownerId, slot }) => `${ownerId}/${slot}`);
  compare(complaints, 'places of two projects', duplicates(places), []);
  if (settled) for (const { _id, state } of projects) if (state !== 'active') complaints.push(`${_id} stays ${state}`);
  recountSessions(await at.items('d#developers'), complaints);
  const traces = new Set(active.map(({ _id }) => String(_id)));
  for (const { pk } of settled ? await at.allItems() : []) if (pk?.S?.startsWith('p#')) traces.add(pk.S.slice(2));
  for (const id of traces) complaints.push(...(await recountProject(at, id, settled)));
  return complaints;
};
