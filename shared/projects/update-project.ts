import type { ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { untilWritten } from '../core/until-written.ts';
import { changeProject, changeProjectIf, projectNotFound } from './change-project.ts';
import type { OwnedProject } from './find-owned-project.ts';
import { type ProjectRecord, projectRecords } from './project-record.ts';
import type { ProjectView } from './project-view.ts';
import type { ProjectChanges } from './settings.ts';
import { providerChanges } from './settings-changes.ts';
import { socialChanges } from './social/changes.ts';

/** From now on no look-up finds it or its keys, and its slot is free; `removeDeletedProjects` removes the rest. */
export const deleteProject = async (owned: OwnedProject): Promise<void> => {
  const now = new Date(clock.now());
  await changeProject(owned, { $set: { state: 'deleting', deletingSince: now, updatedAt: now } });
};

/** The record again, of which others have changed something meanwhile; gone → 404. */
const loadAgain = async (_id: ObjectId): Promise<Pick<ProjectRecord, 'socialProviders'>> => {
  const record = await projectRecords.findOne({ _id, state: 'active' }, { projection: { socialProviders: 1 } });
  if (!record) throw projectNotFound();
  return record;
};

/**
 * Changes given settings; secrets are sealed. None given → 400 `NOTHING_TO_UPDATE`; a social provider that would be
 * enabled without its client id or secret → 400 `VALIDATION_FAILED`, decided on the providers that the update still
 * finds.
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
  return untilWritten('The settings are being changed by others right now. Please try again.', async (attempt) => {
    const { socialProviders: now } = attempt === 0 ? record : await loadAgain(record._id);
    social.check(now);
    return changeProjectIf(owned, update, isSocial ? { socialProviders: now ?? { $exists: false } } : {});
  });
};
