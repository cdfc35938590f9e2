import { ObjectId } from 'mongodb';
import type { Page, PageRequest } from '../../core/page.ts';
import type { Project } from '../../projects/project.ts';
import { type BuiltInKey, builtInKeys, isBuiltInKey } from './built-in.ts';
import { findOwnById, templateNotFound } from './find-template.ts';
import { onTemplates } from './template-record.ts';
import {
  builtInView,
  summarizeTemplate,
  type TemplateSummary,
  type TemplateView,
  toTemplateView,
} from './template-view.ts';

const builtInSummary = (key: BuiltInKey): TemplateSummary => {
  const { html: _html, text: _text, ...summary } = builtInView(key);
  return summary;
};

/** A page of the templates that a project can send: its own by name, then the built-in ones. Without html and text. */
export const listMailTemplates = async (
  project: Pick<Project, 'id'>,
  { page, limit }: PageRequest,
): Promise<Page<TemplateSummary>> => {
  const own = { projectId: new ObjectId(project.id) };
  const begin = (page - 1) * limit;
  const [records, count] = await onTemplates((templates) =>
    Promise.all([
      templates
        .find(own, {
          projection: { key: 1, name: 1, subject: 1, updatedAt: 1 },
          sort: { nameKey: 1 },
          skip: begin,
          limit,
          maxTimeMS: 5000,
        })
        .toArray(),
      templates.countDocuments(own, { maxTimeMS: 5000 }),
    ]),
  );
  const builtIn = builtInKeys.slice(Math.max(0, begin - count), Math.max(0, begin + limit - count));
  const items = [...records.map(summarizeTemplate), ...builtIn.map(builtInSummary)];
  return { items, total: count + builtInKeys.length, page, limit };
};

/** One template, whole; a built-in one by its key. Unknown → 404 `TEMPLATE_NOT_FOUND`. */
export const getMailTemplate = async (project: Pick<Project, 'id'>, templateId: string): Promise<TemplateView> => {
  if (isBuiltInKey(templateId)) return builtInView(templateId);
  const record = await findOwnById(project.id, templateId);
  if (!record) throw templateNotFound(templateId);
  return toTemplateView(record);
};
