import { ObjectId } from 'mongodb';
import { findPage } from '../../clients/find-page.ts';
import type { Page, PageRequest } from '../../core/page.ts';
import { type View, viewOf } from '../../core/view.ts';
import type { Project } from '../../projects/project.ts';
import { type BuiltInKey, builtInKeys, builtInTemplates, isBuiltInKey } from './built-in.ts';
import { requireOwnById } from './find-template.ts';
import { type TemplateRecord, templateRecords } from './template-record.ts';

/** A template as lists show it. A built-in one has its key as `_id`, and was never updated. */
interface TemplateSummary extends View<TemplateRecord, '_id' | 'key' | 'name' | 'subject'> {
  readonly builtIn: boolean;
  readonly updatedAt: Date | null;
}

/** The template record of contract 5. */
export type TemplateView = TemplateSummary & Pick<TemplateRecord, 'html' | 'text'>;

export const toTemplateView = (record: TemplateRecord): TemplateView => ({
  ...viewOf(record, ['_id', 'key', 'name', 'subject', 'html', 'text', 'updatedAt']),
  builtIn: false,
});

const builtInView = (key: BuiltInKey): TemplateView => {
  const { name, subject, html, text } = builtInTemplates[key];
  return { _id: key, key, name, subject, html, text, builtIn: true, updatedAt: null };
};

const toSummary = ({ html: _html, text: _text, ...summary }: TemplateView): TemplateSummary => summary;

/** A page of the templates that a project can send: its own by name, then the built-in ones. Without html and text. */
export const listMailTemplates = async (
  project: Pick<Project, 'id'>,
  request: PageRequest,
): Promise<Page<TemplateSummary>> => {
  const own = { projectId: new ObjectId(project.id) };
  const shown = { projection: { key: 1, name: 1, subject: 1, updatedAt: 1 }, sort: { nameKey: 1 } } as const;
  const { items, total, page, limit } = await findPage(templateRecords, own, request, shown, toTemplateView);
  const end = page * limit - total;
  const builtIn = builtInKeys.slice(Math.max(0, end - limit), Math.max(0, end)).map(builtInView);
  return { items: [...items, ...builtIn].map(toSummary), total: total + builtInKeys.length, page, limit };
};

/** One template, whole; a built-in one by its key. Unknown → 404 `TEMPLATE_NOT_FOUND`. */
export const getMailTemplate = async (project: Pick<Project, 'id'>, templateId: string): Promise<TemplateView> =>
  isBuiltInKey(templateId) ? builtInView(templateId) : toTemplateView(await requireOwnById(project.id, templateId));
