import { type BuiltInKey, builtInTemplates } from './built-in.ts';
import type { TemplateRecord } from './template-record.ts';

/** A template as lists show it. A built-in one has its key as `_id`, and was never updated. */
export interface TemplateSummary extends Pick<TemplateRecord, 'key' | 'name' | 'subject'> {
  readonly _id: string;
  readonly builtIn: boolean;
  readonly updatedAt: Date | null;
}

/** The template record of contract 5. */
export type TemplateView = TemplateSummary & Pick<TemplateRecord, 'html' | 'text'>;

type Summarized = Pick<TemplateRecord, '_id' | 'key' | 'name' | 'subject' | 'updatedAt'>;

/** A record as lists show it. */
export const summarizeTemplate = ({ _id, key, name, subject, updatedAt }: Summarized): TemplateSummary => ({
  _id: _id.toHexString(),
  key,
  name,
  subject,
  builtIn: false,
  updatedAt,
});

/** A record as it is shown. */
export const toTemplateView = (record: TemplateRecord): TemplateView => ({
  ...summarizeTemplate(record),
  html: record.html,
  text: record.text,
});

/** A built-in template as it is shown. */
export const builtInView = (key: BuiltInKey): TemplateView => {
  const { name, subject, html, text } = builtInTemplates[key];
  return { _id: key, key, name, subject, html, text, builtIn: true, updatedAt: null };
};
