import { onControl } from '../clients/mongo.ts';
import { clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { OwnedProject } from './find-owned-project.ts';
import type { ProjectRecord } from './project-record.ts';
import { type ProjectView, toProjectView } from './project-view.ts';
import { providerKeyChange, webhookSecretChange } from './provider-key-change.ts';
import type { ProjectChanges } from './settings.ts';
import { type Seal, socialChanges } from './social-changes.ts';

/**
 * Changes the given settings of a project and leaves the others; secrets among them are sealed. Nothing given → 400
 * `NOTHING_TO_UPDATE`.
 */
export const updateProject = async (
  { project, record }: OwnedProject,
  { socialProviders, providerApiKey, providerWebhookSecret, ...changes }: ProjectChanges,
  seal: Seal,
): Promise<ProjectView> => {
  const social = await socialChanges(record, socialProviders, seal);
  const sealed = {
    ...(await providerKeyChange(project.id, providerApiKey, seal)),
    ...(await webhookSecretChange(project.id, providerWebhookSecret, seal)),
  };
  const given = Object.entries({ ...changes, ...social, ...sealed }).filter(([, value]) => value !== undefined);
  if (given.length === 0) throw new AppError('NOTHING_TO_UPDATE', 'Name at least one setting to change.');
  const updated = await onControl((db) =>
    db
      .collection<ProjectRecord>('projects')
      .findOneAndUpdate(
        { _id: record._id, state: 'active' },
        { $set: { ...Object.fromEntries(given), updatedAt: new Date(clock.now()) } },
        { returnDocument: 'after' },
      ),
  );
  if (!updated) throw new AppError('PROJECT_NOT_FOUND', 'Project not found');
  return toProjectView(updated, project.plan);
};
