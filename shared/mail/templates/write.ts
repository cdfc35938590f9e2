import { ObjectId } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { onDuplicateKey, retryOnConflict } from '../../core/retry.ts';
import { insertInSlot } from '../../projects/create-project.ts';
import type { Project } from '../../projects/project.ts';
import { isBuiltInKey } from './built-in.ts';
import {
  comparableNames,
  type NewTemplate,
  requireCustomById,
  requireUsable,
  type TemplateChanges,
  type TemplateRecord,
  type TemplateView,
  templateExists,
  templateNotFound,
  templateRecords,
  templatesPerProject,
  tooManyTemplates,
  toTemplateView,
} from './templates.ts';

type Reserved = Pick<TemplateRecord, 'slot' | 'nameKey' | 'keyKey'>;

const attempt = async (wanted: Omit<TemplateRecord, 'slot'>): Promise<TemplateRecord | null> => {
  const others: Reserved[] = await templateRecords.find(
    { projectId: wanted.projectId },
    { projection: { _id: 0, slot: 1, nameKey: 1, keyKey: 1 } },
  );
  const clashes = ({ nameKey, keyKey }: Reserved) =>
    nameKey === wanted.nameKey || (keyKey !== null && keyKey === wanted.keyKey);
  if (others.some(clashes)) throw templateExists();
  return insertInSlot(templateRecords, wanted, others, templatesPerProject, tooManyTemplates);
};

/**
 * Makes a template of a project. Its name or key taken in any case → 409 `TEMPLATE_EXISTS`, more than 100 → 403
 * `PLAN_LIMIT`, both decided by unique indexes and so exact under parallel calls; neither html nor text → 400
 * `INVALID_MAIL`.
 */
export const createMailTemplate = async (
  project: Pick<Project, 'id'>,
  { name, subject, key = null, html = null, text = null }: NewTemplate,
): Promise<TemplateView> => {
  const now = new Date(clock.now());
  const wanted: Omit<TemplateRecord, 'slot'> = {
    _id: newId(),
    projectId: new ObjectId(project.id),
    name,
    key,
    ...comparableNames({ name, key }),
    subject,
    html,
    text,
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
  requireUsable(wanted);
  return toTemplateView(
    await retryOnConflict('Too many templates are being made at once. Please try again.', () => attempt(wanted)),
  );
};

const requireOwn = async (project: Pick<Project, 'id'>, templateId: string): Promise<TemplateRecord> => {
  if (!isBuiltInKey(templateId)) return requireCustomById(project.id, templateId);
  throw new AppError(
    'TEMPLATE_NOT_FOUND',
    `The template ${templateId} is built in. To change it, create your own template with this key.`,
  );
};

/** Writes an edit unless another came between, then `null`. */
const replace = (
  { _id, projectId, version }: TemplateRecord,
  changes: Partial<TemplateRecord>,
): Promise<TemplateRecord | null> => {
  const updated = templateRecords.findOneAndUpdate(
    { _id, projectId, version },
    { $set: { ...changes, version: version + 1, updatedAt: new Date(clock.now()) } },
    { returnDocument: 'after' },
  );
  return onDuplicateKey(updated, () => {
    throw templateExists();
  });
};

/**
 * Changes what is given of a template and leaves the rest; `null` clears key, html or text. Refusals as
 * `createMailTemplate` has them; nothing given → 400 `NOTHING_TO_UPDATE`; unknown and built-in → 404
 * `TEMPLATE_NOT_FOUND`.
 */
export const updateMailTemplate = async (
  project: Pick<Project, 'id'>,
  templateId: string,
  changes: TemplateChanges,
): Promise<TemplateView> => {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  if (given.length === 0) throw new AppError('NOTHING_TO_UPDATE', 'Name at least one field to change.');
  const edit = async (): Promise<TemplateRecord | null> => {
    const record = await requireOwn(project, templateId);
    const edited: TemplateRecord = { ...record, ...Object.fromEntries(given) };
    const names = comparableNames(edited);
    requireUsable({ ...edited, ...names });
    return replace(record, { ...Object.fromEntries(given), ...names });
  };
  return toTemplateView(await retryOnConflict('The template is being changed by others. Please try again.', edit));
};

/** Deletes a template of the project's own; unknown and built-in → 404 `TEMPLATE_NOT_FOUND`. */
export const deleteMailTemplate = async (project: Pick<Project, 'id'>, templateId: string): Promise<void> => {
  const { _id, projectId } = await requireOwn(project, templateId);
  const { deletedCount } = await templateRecords.deleteOne({ _id, projectId });
  if (deletedCount === 0) throw templateNotFound(templateId);
};
