import { type View, viewOf } from '../../core/view.ts';
import { type BuiltInKey, builtInTemplates } from './built-in.ts';
import type { TemplateRecord } from './template-record.ts';

/** A template as lists show it. A built-in one has its key as `_id`, and was never updated. */
export interface TemplateSummary extends View<TemplateRecord, '_id' | 'key' | 'name' | 'subject'> {
  readonly builtIn: boolean;
  readonly updatedAt: Date | null;
}

/** The template record of contract 5. */
export type TemplateView = TemplateSummary & Pick<TemplateRecord, 'html' | 'text'>;

const listed = ['_id', 'key', 'name', 'subject', 'updatedAt'] as const;

export const summarizeTemplate = (record: Pick<TemplateRecord, (typeof listed)[number]>): TemplateSummary => ({
  ...viewOf(record, listed),
  builtIn: false,
});

export const toTemplateView = (record: TemplateRecord): TemplateView => ({
  ...viewOf(record, [...listed, 'html', 'text']),
  builtIn: false,
});

export const builtInView = (key: BuiltInKey): TemplateView => {
  const { name, subject, html, text } = builtInTemplates[key];
  return { _id: key, key, name, subject, html, text, builtIn: true, updatedAt: null };
};
