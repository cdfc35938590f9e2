import type { ObjectId } from 'mongodb';
import { projectSaved } from '../core/saved-projects.ts';
import type { EventKind } from './project.ts';
import { projectRecords } from './project-record.ts';

/**
 * Has writes of these kinds look for webhooks from now on: in every function within 5 s, in this process at once. To be
 * called before such a webhook is stored and after it, so that no removal that began before takes it away.
 */
export const addHooks = async (_id: ObjectId, kinds: readonly EventKind[]): Promise<void> => {
  await projectRecords.updateOne(
    { _id, state: 'active' },
    { $addToSet: { 'hooks.kinds': { $each: [...kinds] } }, $inc: { 'hooks.version': 1 } },
  );
  projectSaved(_id.toHexString());
};

/**
 * Has writes look for webhooks of those kinds alone that are still listened to; not where one was added meanwhile, as
 * one look too many does no harm.
 */
export const keepHooks = async (_id: ObjectId, listenedTo: () => Promise<readonly EventKind[]>): Promise<void> => {
  const before = await projectRecords.findOne({ _id }, { projection: { hooks: 1 } });
  if (!before?.hooks) return;
  const kinds = await listenedTo();
  const asItWas = { _id, 'hooks.version': before.hooks.version };
  const change = kinds.length === 0 ? { $unset: { hooks: '' as const } } : { $set: { 'hooks.kinds': kinds } };
  await projectRecords.updateOne(asItWas, change);
  projectSaved(_id.toHexString());
};
