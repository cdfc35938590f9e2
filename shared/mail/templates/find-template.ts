import { ObjectId } from 'mongodb';
import { cutText } from '../../core/bounded-text.ts';
import { AppError } from '../../core/errors.ts';
import { idOf } from '../../core/id-of.ts';
import type { Project } from '../../projects/project.ts';
import { builtInKeyOf, builtInTemplates } from './built-in.ts';
import type { MailTemplate } from './render-template.ts';
import { comparable, type TemplateRecord, templateRecords } from './template-record.ts';

/** Which template a mail is made from: by id, or by name or key. */
export type TemplateReference = { readonly templateId: string } | { readonly templateName: string };

type Named = Pick<Project, 'id' | 'name'>;

export const templateNotFound = (wanted: string): AppError =>
  new AppError('TEMPLATE_NOT_FOUND', `This project has no mail template "${cutText(wanted, 100)}".`);

const findOwnByName = async (projectId: string, name: string): Promise<TemplateRecord | undefined> => {
  const wanted = comparable(name);
  const matches = await templateRecords.find({
    projectId: new ObjectId(projectId),
    $or: [{ nameKey: { $eq: wanted } }, { keyKey: { $eq: wanted } }],
  });
  return matches.find(({ nameKey }) => nameKey === wanted) ?? matches[0];
};

export const findOwnByKey = (projectId: string, key: string): Promise<TemplateRecord | null> =>
  templateRecords.findOne({ projectId: new ObjectId(projectId), keyKey: { $eq: key } });

/** The project's own template with an id; malformed, unknown and other projects' → 404 `TEMPLATE_NOT_FOUND`. */
export const requireOwnById = async (projectId: string, templateId: string): Promise<TemplateRecord> => {
  const _id = idOf(templateId);
  const found = _id && (await templateRecords.findOne({ _id, projectId: new ObjectId(projectId) }));
  if (!found) throw templateNotFound(templateId);
  return found;
};

/**
 * The template that a mail is to be made from: one of the project's own by id, by name or else by key, or a built-in
 * one by key or name; names and keys without regard to case. Malformed, unknown and other projects' → 404
 * `TEMPLATE_NOT_FOUND`.
 */
export const findTemplate = async (
  { id, name: siteName }: Named,
  reference: TemplateReference,
): Promise<MailTemplate> => {
  if ('templateId' in reference) return { ...(await requireOwnById(id, reference.templateId)), siteName };
  const { templateName } = reference;
  const own = await findOwnByName(id, templateName);
  if (own) return { ...own, siteName };
  const key = builtInKeyOf(templateName);
  if (!key) throw templateNotFound(templateName);
  return { ...builtInTemplates[key], siteName };
};
