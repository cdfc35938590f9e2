import type { Document, Filter, ObjectId, UpdateFilter } from 'mongodb';
import { projectSaved } from '../core/cache.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { retryOnConflict } from '../core/retry.ts';
import type { OwnedProject } from './find-project.ts';
import { type EventKind, type ProjectRecord, projectRecords } from './project.ts';
import { type ProjectView, toProjectView } from './project-view.ts';
import { seal } from './sealed.ts';
import { type ProjectChanges, providerKeyId, webhookSecretId } from './settings.ts';
import { socialChanges } from './social/settings.ts';

export const projectNotFound = (): AppError => new AppError('PROJECT_NOT_FOUND', 'Project not found');

/** Changes an active project by one conditional write; `null` if it does not match. */
export const changeProjectIf = async (
  { project, record: { _id } }: OwnedProject,
  update: UpdateFilter<ProjectRecord> | Document[],
  condition: Filter<ProjectRecord>,
): Promise<ProjectView | null> => {
  const filter = { ...condition, _id, state: 'active' as const };
  const updated = await projectRecords.findOneAndUpdate(filter, update, { returnDocument: 'after' });
  if (!updated) return null;
  projectSaved(project.id);
  return toProjectView(updated, project.plan);
};

/** Takes effect within 5 s in every function, immediately in this process. Throws 404 `PROJECT_NOT_FOUND`. */
export const changeProject = async (
  owned: OwnedProject,
  update: UpdateFilter<ProjectRecord> | Document[],
): Promise<ProjectView> => {
  const changed = await changeProjectIf(owned, update, {});
  if (!changed) throw projectNotFound();
  return changed;
};

/** No look-up finds it or its keys any more, and its slot is free. `removeDeletedProjects` removes the rest. */
export const deleteProject = async (owned: OwnedProject): Promise<void> => {
  const now = new Date(clock.now());
  await changeProject(owned, { $set: { state: 'deleting', deletingSince: now, updatedAt: now } });
};

/** Returns the sealed values to store. `null` returns to the shared key, which accepts no events. */
const providerChanges = async (
  projectId: string,
  { providerApiKey: key, providerWebhookSecret: secret }: ProjectChanges,
): Promise<Pick<ProjectRecord, 'sealedProviderApiKey' | 'sealedProviderWebhookSecret'>> => ({
  ...(key !== undefined && { sealedProviderApiKey: key && (await seal(key, providerKeyId(projectId))) }),
  ...(secret !== undefined && {
    sealedProviderWebhookSecret: secret && (await seal(secret, webhookSecretId(projectId))),
  }),
});

/** Reads the current record after a concurrent change; 404 if deleted. */
const loadAgain = async (_id: ObjectId): Promise<Pick<ProjectRecord, 'socialProviders'>> => {
  const record = await projectRecords.findOne({ _id, state: 'active' }, { projection: { socialProviders: 1 } });
  if (!record) throw projectNotFound();
  return record;
};

/**
 * Changes the given settings and seals secrets. Throws 400 `NOTHING_TO_UPDATE`; 400 `VALIDATION_FAILED` if a provider
 * would be enabled without its client id or secret, decided by the record at the time of the write.
 */
export const updateProject = async (
  owned: OwnedProject,
  { socialProviders, providerApiKey, providerWebhookSecret, signIn = {}, uploads = {}, ...changes }: ProjectChanges,
): Promise<ProjectView> => {
  const { project, record } = owned;
  const social = await socialChanges(project.id, socialProviders);
  const sealed = await providerChanges(project.id, { providerApiKey, providerWebhookSecret });
  const members = (setting: string, given: object) =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [`${setting}.${name}`, value]));
  const given = Object.entries({
    ...changes,
    ...members('signIn', signIn),
    ...members('uploads', uploads),
    ...social.set,
    ...sealed,
  }).filter(([, value]) => value !== undefined);
  const removes = Object.keys(social.unset).length > 0;
  const isSocial = removes || Object.keys(social.set).length > 0;
  if (given.length === 0 && !removes) throw new AppError('NOTHING_TO_UPDATE', 'Name at least one setting to change.');
  const update = {
    $set: { ...Object.fromEntries(given), updatedAt: new Date(clock.now()) },
    ...(removes && { $unset: social.unset }),
  };
  return retryOnConflict('Other requests are changing the settings. Retry.', async (attempt) => {
    const { socialProviders: now } = attempt === 0 ? record : await loadAgain(record._id);
    social.check(now);
    return changeProjectIf(owned, update, isSocial ? { socialProviders: now ?? { $exists: false } } : {});
  });
};

/**
 * Makes writes of these kinds notify webhooks: within 5 s in every function. Call it before and after storing such a
 * webhook, so that no concurrent removal undoes it.
 */
export const addHooks = async (_id: ObjectId, kinds: readonly EventKind[]): Promise<void> => {
  await projectRecords.updateOne(
    { _id, state: 'active' },
    { $addToSet: { 'hooks.kinds': { $each: [...kinds] } }, $inc: { 'hooks.version': 1 } },
  );
  projectSaved(_id.toHexString());
};

/** Stops notifications of kinds without listeners, unless one was added meanwhile; an extra look-up is harmless. */
export const keepHooks = async (_id: ObjectId, listenedTo: () => Promise<readonly EventKind[]>): Promise<void> => {
  const before = await projectRecords.findOne({ _id }, { projection: { hooks: 1 } });
  if (!before?.hooks) return;
  const kinds = await listenedTo();
  const asItWas = { _id, 'hooks.version': before.hooks.version };
  const change = kinds.length === 0 ? { $unset: { hooks: '' as const } } : { $set: { 'hooks.kinds': kinds } };
  await projectRecords.updateOne(asItWas, change);
  projectSaved(_id.toHexString());
};
