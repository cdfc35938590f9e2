import type { Collection as Documents, Filter, Document as MongoDocument } from 'mongodb';
import { maxTimeMS } from '../../clients/find-raw.ts';
import { onProject } from '../../clients/mongo.ts';
import { deserialize, rawDocument } from '../../clients/raw-documents.ts';
import { isActive, isGone, isNotGone, isTrashed } from '../../collections/trash-conditions.ts';
import type { Project } from '../../projects/project.ts';
import { nudge } from '../changes/nudge.ts';
import { stamped } from '../changes/stamp.ts';
import { type Document, documentId, documentNotFound, type JsonObject } from '../document.ts';
import { type Counting, counting, countingOf, mustBeAt } from '../revision.ts';
import { mayWrite, notOwner, type Visit, writeFilter } from '../row-security.ts';
import { countingClashes } from './clashes.ts';
import { blowing, burning, fuseField, hasFuses, newFuse, unlessRefused } from './fuse.ts';
import { type Guard, writeGuarded } from './guarded-write.ts';

/** When a document is written, which one conditional command decides. */
interface Conditions {
  /** What the document must be. */
  readonly state: 'active' | 'trashed' | 'any';
  readonly guards?: readonly Guard[];
  /** The revision that it must be at. */
  readonly ifMatch?: number | undefined;
}

/** What an operator update writes besides, of a document of which that is known. */
interface Known {
  readonly counting: Counting;
  /** It was read, and matches none of the guards' own filters. */
  readonly isMeasured: boolean;
}

interface DocumentChange<T> extends Conditions {
  /** The one command, with every condition in it; `null` where they did not hold. */
  readonly write: (documents: Documents, filter: Filter<MongoDocument>, known: Known) => Promise<T | null>;
}

const states: Readonly<Record<Conditions['state'], Filter<MongoDocument>>> = {
  active: isActive,
  trashed: { isDeleted: true },
  any: {},
};

const isIn = (state: Conditions['state'], document: Document): boolean =>
  state === 'any' || isTrashed(document) === (state === 'trashed');

/** A document that the caller may write in this state; else 404 missing, 403 `NOT_OWNER`, 404 in another state. */
const writable = (visit: Visit, state: Conditions['state'], stored: MongoDocument | null): Document => {
  const document = stored as Document | null;
  if (!document || isGone(visit.collection, document)) throw documentNotFound();
  // Whether another user's document is in the trash is theirs to know, so this comes before its state.
  if (!mayWrite(visit, document)) throw notOwner();
  if (!isIn(state, document)) throw documentNotFound();
  return document;
};

/**
 * Writes to one document that the caller may write; the one command decides, its filter holds every condition. Only a
 * write that changed nothing reads the document to say why: 404 missing, 403 `NOT_OWNER`, 404 in the wrong state, or
 * what a guard says. Where there is no reason it tries again a few times, then throws 503.
 */
export const changeDocument = async <T>(
  visit: Visit,
  id: string,
  { state, guards = [], ifMatch, write }: DocumentChange<T>,
): Promise<T> => {
  const { project, collection } = visit;
  const mine = writeFilter(visit);
  const there = collection.feed && state !== 'active' ? isNotGone : {};
  const _id = documentId(id);
  const onDocuments = <R>(run: (documents: Documents) => Promise<R>): Promise<R> =>
    onProject(project, (db) => run(db.collection(collection.name)));
  let known: Known = { counting: stamped(collection, counting), isMeasured: false };
  return writeGuarded(ifMatch === undefined ? guards : [mustBeAt(ifMatch), ...guards], {
    write: (conditions) =>
      onDocuments((documents) => write(documents, { _id, ...states[state], ...there, ...mine, ...conditions }, known)),
    read: async () => {
      const raw = await onDocuments((documents) => documents.findOne({ _id }, { raw: true, maxTimeMS }));
      const bytes = raw && rawDocument(raw);
      const document = writable(visit, state, bytes && deserialize(bytes));
      known = { counting: stamped(collection, countingOf(document)), isMeasured: true };
      return { document, bytes: bytes?.byteLength ?? 0 };
    },
    busy: 'The document is being changed by others right now. Please try again.',
  });
};

/** Fields to set, and what is answered of the document, if not all. */
interface Fields extends Conditions {
  readonly fields: JsonObject;
  readonly projection?: { readonly [field: string]: 1 };
  /** Whether a fuse holds whatever the conditions ask for. */
  readonly isFused?: boolean;
}

const isTrashing = ({ fields }: Fields): boolean => fields.isDeleted === true;

const answerOf = ({ projection }: Fields) => ({ returnDocument: 'after', ...(projection && { projection }) }) as const;

/** The document as its fuse let it be written; `undefined` if that has to be decided by a filter. */
const setByFuse = async (visit: Visit, id: string, change: Fields): Promise<Document | undefined> => {
  const { project, collection, caller } = visit;
  const filter = { _id: documentId(id), ...writeFilter(visit) };
  const { operators } = stamped(collection, counting);
  const decided = isTrashing(change) ? { $inc: { ...operators.$inc, ...blowing.$inc } } : burning;
  const update = { ...operators, ...decided, $set: change.fields };
  const written = await onProject(project, (db) =>
    unlessRefused(db.collection(collection.name).findOneAndUpdate(filter, update, answerOf(change))),
  );
  if (written === null && caller.kind === 'secret') throw documentNotFound();
  return (written as Document | null) ?? undefined;
};

/** What becomes of the fuse of a document that a filter found. */
const fuseAfter = (project: Project, change: Fields, isMeasured: boolean): MongoDocument => {
  if (!hasFuses(project)) return {};
  const isFit = !isTrashing(change) && !isMeasured && change.guards?.some(({ leavesRoom }) => leavesRoom);
  return isFit ? { $set: newFuse } : { $unset: { [fuseField]: '' } };
};

/** Sets fields of one document that the caller may write, tells those who watch, and returns it as it is then. */
export const setFields = async (visit: Visit, id: string, change: Fields): Promise<Document> => {
  const written = await countingClashes(visit, () => writeFields(visit, id, change));
  await nudge(visit, [written]);
  return written;
};

const writeFields = async (visit: Visit, id: string, change: Fields): Promise<Document> => {
  const { project } = visit;
  const byFuse = change.isFused && hasFuses(project) ? await setByFuse(visit, id, change) : undefined;
  const written =
    byFuse ??
    (await changeDocument(visit, id, {
      ...change,
      write: (documents, filter, { counting: { where, operators }, isMeasured }) => {
        const { $set, ...fuse } = fuseAfter(project, change, isMeasured);
        const update = { ...operators, ...fuse, $set: { ...change.fields, ...operators.$set, ...$set } };
        return documents.findOneAndUpdate({ ...filter, ...where }, update, answerOf(change));
      },
    }));
  return written as Document;
};
