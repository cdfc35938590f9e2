import { ObjectId } from 'mongodb';
import { findCollections, onCollection } from '../collections/find-collections.ts';
import { isUsersName } from '../collections/names.ts';
import { projectSaved } from '../core/cache.ts';
import { clock, dayMs } from '../core/clock.ts';
import { mapConcurrent } from '../core/concurrency.ts';
import { AppError } from '../core/errors.ts';
import { deleteFiles } from '../files/delete-files.ts';
import {
  type FileAccess,
  type FileRef,
  fileNotFound,
  fromFileDocument,
  isHiddenFrom,
  type Ownership,
  toFileDocument,
} from '../files/file-items.ts';
import { allDocumentFiles, filesAt, listDocumentFiles } from '../files/list-files.ts';
import { maxTimeMS } from '../persistence/raw-documents.ts';
import { findProjectById } from '../projects/find-project.ts';
import { type Caller, type Project, projectRecords } from '../projects/project.ts';
import type { AccessContext } from './access/access.ts';
import { type Document, documentNotFound } from './document.ts';
import { requireChangeableDocument, requireReadableDocument } from './query/get-document.ts';
import { findReadableSince } from './query/populate-targets.ts';

// Files of documents: the document decides who may use them, and they are deleted with it.

/** A document as its files name it. One of another program has no time of creation. */
const fileDocument = (collection: string, id: string, createdAt: unknown): string =>
  fromFileDocument({ collection, id, since: createdAt instanceof Date ? createdAt.getTime() : 0 });

const contextOf = async (project: Project, caller: Caller, name: string): Promise<AccessContext> => {
  const collection = (await findCollections(project, [name])).get(name);
  if (!collection || isUsersName(name)) throw documentNotFound();
  return { project, caller, collection };
};

/** The error of a file whose document, or the collection of it, is hidden or no longer exists. */
const asFileError = (error: unknown): unknown =>
  error instanceof AppError && error.code === 'DOCUMENT_NOT_FOUND' ? fileNotFound() : error;

/** Throws unless the caller may change the document of a file, which must be the one that it was attached to. */
const requireDocument = async (project: Project, caller: Caller, of: string): Promise<void> => {
  const { collection, id } = toFileDocument(of);
  const document = await requireChangeableDocument(await contextOf(project, caller, collection), id);
  if (fileDocument(collection, id, document.createdAt) !== of) throw documentNotFound();
};

/** The documents of files that the caller may read, as the files name them: one query for each collection. */
const readableDocuments = async (project: Project, caller: Caller, files: readonly Ownership[]) => {
  const all = files.flatMap(({ of }) => (of === undefined ? [] : [toFileDocument(of)]));
  const readable = new Set<string>();
  await Promise.all(
    [...Map.groupBy(all, ({ collection }) => collection)].map(async ([name, documents]) => {
      const context = await contextOf(project, caller, name).catch(() => undefined);
      if (!context) return;
      const found = await findReadableSince(context, [...new Set(documents.map(({ id }) => id))]);
      for (const [id, createdAt] of found) readable.add(fileDocument(name, id, createdAt));
    }),
  );
  return readable;
};

/** What a caller may do with files. Nothing is kept: the documents are asked each time. */
export const fileAccess = (project: Project, caller: Caller): FileAccess => ({
  readable: async (files) => {
    const documents = await readableDocuments(project, caller, files);
    return new Set(
      files.filter((file) => (file.of === undefined ? !isHiddenFrom(caller, file) : documents.has(file.of))),
    );
  },
  requireChange: async (file) => {
    if (file.of === undefined && isHiddenFrom(caller, file)) throw fileNotFound();
    if (file.of === undefined) return;
    await requireDocument(project, caller, file.of).catch((error: unknown) => {
      throw asFileError(error);
    });
  },
  requireConfirm: async (file) => {
    if (file.of === undefined && isHiddenFrom(caller, file)) throw fileNotFound();
    if (file.of !== undefined) await requireDocument(project, caller, file.of);
  },
});

/** Lets deletions know that documents of the collection have files, within 5 s in every function. */
const noteAttached = async ({ id, attached = [] }: Project, collection: string): Promise<void> => {
  if (attached.includes(collection)) return;
  await projectRecords.updateOne({ _id: new ObjectId(id) }, { $addToSet: { attached: collection } });
  projectSaved(id);
};

/**
 * Prepares an upload to a document. Returns the document as the file names it. Throws 404 `DOCUMENT_NOT_FOUND`, 403
 * with the code of the collection's mode.
 */
export const attachTo = async (context: AccessContext, id: string): Promise<string> => {
  const { project, collection } = context;
  const document = await requireChangeableDocument(context, id);
  await noteAttached(project, collection.name);
  return fileDocument(collection.name, document._id.toHexString(), document.createdAt);
};

/** The confirmed files of a document that the caller may read. Throws 401 or 404 as a read of the document does. */
export const listFilesOf = async (
  context: AccessContext,
  id: string,
  query: Parameters<typeof listDocumentFiles>[2],
) => {
  const { project, collection } = context;
  const { _id, createdAt } = await requireReadableDocument(context, id);
  return listDocumentFiles(project, fileDocument(collection.name, _id.toHexString(), createdAt), query);
};

/** The documents with these ids, in the trash too, as their files name them. */
const findAll = async (project: Project, name: string, ids: readonly string[]): Promise<ReadonlySet<string>> => {
  const _id = { $in: ids.map((id) => ObjectId.createFromHexString(id)) };
  const found = await onCollection(project, name, (db) =>
    db
      .collection<Document>(name)
      .find({ _id }, { projection: { createdAt: 1, _gone: 1 }, maxTimeMS })
      .toArray(),
  );
  const there = found.filter(({ _gone }) => typeof _gone !== 'boolean');
  return new Set(there.map(({ _id: id, createdAt }) => fileDocument(name, id.toHexString(), createdAt)));
};

const filesAtOnce = 100;

/** Deletes those of the files whose document no longer exists. */
const deleteOrphans = async (
  project: Project,
  name: string,
  files: readonly { readonly path: string; readonly id: string }[],
): Promise<void> => {
  for (let start = 0; start < files.length; start += filesAtOnce) {
    const some = files.slice(start, start + filesAtOnce);
    const paths = some.map(({ path }) => path);
    const items = await filesAt(project, paths);
    const documents = await findAll(project, name, [...new Set(some.map(({ id }) => id))]);
    const orphans = paths.filter((_, at) => {
      const of = items[at]?.of;
      return of !== undefined && !documents.has(of);
    });
    if (orphans.length > 0) await deleteFiles(project, orphans);
  }
};

const listsAtOnce = 10;

/** Deletes the files of deleted documents. Returns false if the time until `end` was not enough. */
export const deleteFilesOf = async (
  project: Project,
  collection: string,
  ids: readonly ObjectId[],
  end: number,
): Promise<boolean> => {
  for (let start = 0; start < ids.length; start += filesAtOnce) {
    if (clock.now() >= end) return false;
    const some = ids.slice(start, start + filesAtOnce).map((id) => id.toHexString());
    const found: { path: string; id: string }[] = [];
    await mapConcurrent(some, listsAtOnce, async (id) => {
      found.push(...(await allDocumentFiles(project, { collection, id })));
    });
    await deleteOrphans(project, collection, found);
  }
  return true;
};

/** The task `remove-files`: deletes the files of a collection whose documents no longer exist. It can be repeated. */
export const deleteFilesOfCollection = async (projectId: string, collection: string): Promise<void> => {
  const project = await findProjectById(projectId);
  if (project) await deleteOrphans(project, collection, await allDocumentFiles(project, { collection }));
};

/** Deletes a confirmed file if its document no longer exists: a function may not have known yet that it has files. */
export const deleteIfOrphan = async ({ projectId, filePath }: FileRef, of: string): Promise<void> => {
  const project = await findProjectById(projectId);
  const { collection, id } = toFileDocument(of);
  // Documents of a database that the project has left cannot be asked.
  const isRecent = project?.placement.since && project.placement.since.getTime() > clock.now() - dayMs;
  if (project && !isRecent) await deleteOrphans(project, collection, [{ path: filePath, id }]);
};
