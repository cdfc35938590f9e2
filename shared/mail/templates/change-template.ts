import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';
import { isBuiltInKey } from './built-in.ts';
import { findOwnById, templateNotFound } from './find-template.ts';
import { onTemplates, type TemplateRecord } from './template-record.ts';
import { comparableNames, requireUsable, templateExists } from './template-rules.ts';
import type { TemplateChanges } from './template-settings.ts';
import { type TemplateView, toTemplateView } from './template-view.ts';

/** How often an edit begins anew because another one came between. */
const attempts = 20;

const requireOwn = async (project: Pick<Project, 'id'>, templateId: string): Promise<TemplateRecord> => {
  const record = await findOwnById(project.id, templateId);
  if (record) return record;
  throw isBuiltInKey(templateId)
    ? new AppError(
        'TEMPLATE_NOT_FOUND',
        `The template ${templateId} is built in. Make one of your own with this key: it takes its place.`,
      )
    : templateNotFound(templateId);
};

/** Writes an edit unless another came between, then `null`. */
const replace = async (
  { _id, projectId, version }: TemplateRecord,
  changes: Partial<TemplateRecord>,
): Promise<TemplateRecord | null> => {
  try {
    return await onTemplates((templates) =>
      templates.findOneAndUpdate(
        { _id, projectId, version },
        { $set: { ...changes, version: version + 1, updatedAt: new Date(clock.now()) } },
        { returnDocument: 'after' },
      ),
    );
  } catch (error) {
    if (error instanceof AppError && error.code === 'DUPLICATE_VALUE') throw templateExists();
    throw error;
  }
};

/**
 * Changes what is given of a template and leaves the rest; `null` clears key, html or text. Refusals as
 * `createTemplate` has them; nothing given → 400 `NOTHING_TO_UPDATE`; unknown and built-in → 404 `TEMPLATE_NOT_FOUND`.
 */
export const updateTemplate = async (
  project: Pick<Project, 'id'>,
  templateId: string,
  changes: TemplateChanges,
): Promise<TemplateView> => {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  if (given.length === 0) throw new AppError('NOTHING_TO_UPDATE', 'Name at least one field to change.');
  for (let tries = 0; tries < attempts; tries++) {
    const record = await requireOwn(project, templateId);
    const edited: TemplateRecord = { ...record, ...Object.fromEntries(given) };
    const names = comparableNames(edited);
    requireUsable({ ...edited, ...names });
    const updated = await replace(record, { ...Object.fromEntries(given), ...names });
    if (updated) return toTemplateView(updated);
  }
  throw new AppError('TOO_MANY_WRITERS', 'The template is being changed by others. Please try again.', {
    retryAfter: 1,
  });
};

/** Deletes a template of the project's own; unknown and built-in → 404 `TEMPLATE_NOT_FOUND`. */
export const deleteTemplate = async (project: Pick<Project, 'id'>, templateId: string): Promise<void> => {
  const { _id, projectId } = await requireOwn(project, templateId);
  const { deletedCount } = await onTemplates((templates) => templates.deleteOne({ _id, projectId }));
  if (deletedCount === 0) throw templateNotFound(templateId);
};
