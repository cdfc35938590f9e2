import { interpolateHtml, interpolateSubject, interpolateText } from './interpolate.ts';
import type { BuiltInTemplate } from './mail-job.ts';
import { builtInTemplates } from './templates/built-in.ts';

export interface RenderedMail {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** Fills a built-in template in; without a `link` the mail shows the code alone. */
export const renderMail = (
  template: BuiltInTemplate,
  siteName: string,
  variables: Readonly<Record<string, string>>,
): RenderedMail => {
  const { withLink, codeOnly } = builtInTemplates[template];
  const { subject, html, text } = variables.link ? withLink : codeOnly;
  const values = { ...variables, siteName };
  return {
    subject: interpolateSubject(subject, values),
    html: interpolateHtml(html, values),
    text: interpolateText(text, values),
  };
};
