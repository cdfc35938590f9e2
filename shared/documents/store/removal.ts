import type { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { onCollection } from '../../collections/find-collections.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { isClientError } from '../../core/errors.ts';
import { logFailure, tryOrLog } from '../../core/log.ts';
import { deserialize, findRaw, maxTimeMS } from '../../persistence/raw-documents.ts';
import type { Project } from '../../projects/project.ts';
import type { AccessContext } from '../access/access.ts';
import type { Document, JsonObject } from '../document.ts';
import { finishRun, follow, newRun } from './cascade.ts';
import {
  type CascadeRecord,
  cascadeRecords,
  mayBeFollowed,
  noteRemoval,
  type Removed,
  wakeCascades,
} from './cascade-records.ts';
import { afterwards, type JointScope, maxJointWrites, onJointFailure } from './joint-scope.ts';
import { isWatched, publishChange } from './publish.ts';
import { followedAtOnce, requireUnrestricted } from './restrict.ts';
import type { Settle } from './settle-update.ts';

/** A request has 29 s, and one to a customer's own database 20. */
const followMs = 10_000;

/** Publishes what followed to live updates. Nothing depends on it, and the task does not do it. */
const publish = async (project: Project, source: Collection, ids: readonly ObjectId[]): Promise<void> => {
  if (!isWatched(source)) return;
  try {
    await onCollection(project, source.name, async (db) => {
      const options = { limit: ids.length, maxTimeMS };
      for await (const raw of findRaw(db, source.name, { _id: { $in: [...ids] } }, options)) {
        const written = raw.map((each) => deserialize(each) as Document);
        await publishChange({ project, collection: source, caller: { kind: 'secret' } }, written);
      }
    });
  } catch (error) {
    logFailure({ message: 'No one was notified of what followed a deletion', project: project.id }, error);
  }
};

/**
 * Makes the first documents follow. The task does the rest, or everything if this fails. In a joint run, the
 * documents that follow count towards its limit.
 */
const followNow = ({ project }: AccessContext, record: CascadeRecord, scope?: JointScope): Promise<boolean> =>
  tryOrLog('warn', { message: 'References are left to the job', project: project.id }, async () => {
    const limit = Math.min(followedAtOnce, maxJointWrites - (scope?.writes ?? 0));
    const run = newRun(project, limit, followMs, { publish: (source, ids) => publish(project, source, ids) });
    await follow(run, record);
    if (scope) scope.writes += limit - run.left;
    const seconds = await finishRun(run);
    if (seconds !== undefined) await wakeCascades(project.id, seconds);
  });

/**
 * Prepares the references to one document for its move to the trash, permanent deletion or recovery. Returns
 * `undefined`, without a command, if no Ref with `onDelete` points to the collection and it has no files. `settle`
 * rejects the write or stores the removal before it; `during` makes documents follow after it. `fields` are the
 * fields that the write sets.
 */
export const removalOf = (context: AccessContext, kind: Removed['kind'], fields: JsonObject) => {
  const { project, collection } = context;
  if (!mayBeFollowed(project, collection.name, kind)) return undefined;
  let record: CascadeRecord | undefined;
  const forget = async (noted: CascadeRecord | undefined): Promise<void> => {
    if (noted) await cascadeRecords.deleteOne({ _id: noted._id }).catch(() => undefined);
  };
  const settle: Settle = async (document) => {
    await forget(record);
    record = undefined;
    const { deletedAt } = kind === 'recover' ? document : fields;
    const removed: Removed = {
      collection: collection.name,
      ids: [document._id],
      kind,
      wasActive: !isTrashed(document),
      at: deletedAt instanceof Date ? deletedAt : new Date(clock.now()),
    };
    if (kind !== 'recover') await requireUnrestricted(context, removed);
    record = await noteRemoval(project, removed);
    const noted = record;
    onJointFailure(() => forget(noted));
    return fields;
  };
  const during = async <T>(write: () => Promise<T>): Promise<T> => {
    try {
      const written = await write();
      if (record) {
        const noted = record;
        await afterwards((scope) => followNow(context, noted, scope));
      }
      return written;
    } catch (error) {
      // After other errors, the write may have happened. The task finds out.
      if (isClientError(error)) await forget(record);
      throw error;
    }
  };
  return { settle, during };
};
