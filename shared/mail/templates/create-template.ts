import { ObjectId } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { newId } from '../../core/new-id.ts';
import { unlessTaken, untilWritten } from '../../core/until-written.ts';
import type { Project } from '../../projects/project.ts';
import { freeSlot } from '../../projects/slots.ts';
import { onTemplates, type TemplateRecord } from './template-record.ts';
import {
  comparableNames,
  requireUsable,
  templateExists,
  templatesPerProject,
  tooManyTemplates,
} from './template-rules.ts';
import type { NewTemplate } from './template-settings.ts';
import { type TemplateView, toTemplateView } from './template-view.ts';

type Reserved = Pick<TemplateRecord, 'slot' | 'nameKey' | 'keyKey'>;

const reserved = (projectId: ObjectId): Promise<Reserved[]> =>
  onTemplates((templates) =>
    templates
      .find({ projectId }, { projection: { _id: 0, slot: 1, nameKey: 1, keyKey: 1 }, maxTimeMS: 5000 })
      .toArray(),
  );

const attempt = async (wanted: Omit<TemplateRecord, 'slot'>): Promise<TemplateRecord | null> => {
  const others = await reserved(wanted.projectId);
  const clashes = ({ nameKey, keyKey }: Reserved) =>
    nameKey === wanted.nameKey || (keyKey !== null && keyKey === wanted.keyKey);
  if (others.some(clashes)) throw templateExists();
  const slot = freeSlot(
    others.map((other) => other.slot),
    templatesPerProject,
  );
  if (slot === undefined) throw tooManyTemplates();
  const record = { ...wanted, slot };
  const inserted = onTemplates((templates) => templates.insertOne(record));
  return (await unlessTaken(inserted, () => null)) && record;
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
    await untilWritten('Too many templates are being made at once. Please try again.', () => attempt(wanted)),
  );
};
