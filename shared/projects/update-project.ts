import type { ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { changeProject, projectNotFound } from './change-project.ts';
import type { OwnedProject } from './find-owned-project.ts';
import { projectRecords } from './project-record.ts';
import type { ProjectView } from './project-view.ts';
import type { ProjectChanges } from './settings.ts';
import { providerChanges } from './settings-changes.ts';
import { type SocialChanges, socialChanges } from './social/changes.ts';

/** From now on no look-up finds it or its keys, and its slot is free; `removeDeletedProjects` removes the rest. */
export const deleteProject = async (owned: OwnedProject): Promise<void> => {
  const now = new Date(clock.now());
  await changeProject(owned, { $set: { state: 'deleting', deletingSince: now, updatedAt: now } });
};

/** Why a record did not match: it is gone, or others have just changed what the change stands on. */
const refusal = async (_id: ObjectId, social: SocialChanges): Promise<AppError> => {
  const record = await projectRecords.findOne({ _id, state: 'active' }, { projection: { socialProviders: 1 } });
  if (!record) return projectNotFound();
  social.check(record);
  return new AppError('TOO_MANY_WRITERS', 'The settings are being changed by others right now. Please try again.', {
    retryAfter: 1,
  });
};

/**
 * Changes given settings; secrets are sealed. None given → 400 `NOTHING_TO_UPDATE`; a social provider that would be
 * enabled without its client id or secret → 400 `VALIDATION_FAILED`, decided by the update itself.
 */
export const updateProject = async (
  owned: OwnedProject,
  { socialProviders, providerApiKey, providerWebhookSecret, signIn = {}, uploads = {}, ...changes }: ProjectChanges,
): Promise<ProjectView> => {
  const { project, record } = owned;
  const social = await socialChanges(project.id, socialProviders);
  social.check(record);
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
  if (given.length === 0 && !removes) throw new AppError('NOTHING_TO_UPDATE', 'Name at least one setting to change.');
  const update = {
    $set: { ...Object.fromEntries(given), updatedAt: new Date(clock.now()) },
    ...(removes && { $unset: social.unset }),
  };
  return changeProject(owned, update, social.conditions, () => refusal(record._id, social));
};
