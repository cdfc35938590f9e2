import { interpolateHtml, interpolateSubject, interpolateText, type Variables } from './interpolate.ts';
import type { MailContent, MailTemplate } from './mail-template.ts';

/** What a site without a name is called, in a sentence such as "your account at …". */
const unnamed = 'this app';

/** The variables by the names of the placeholders. */
const named = ({ siteName, givenAs = {}, otherwise = {} }: MailTemplate, variables: Variables): Variables => {
  const others = Object.entries(givenAs).filter(([, other]) => Object.hasOwn(variables, other));
  const renamed = Object.fromEntries(others.map(([name, other]) => [name, variables[other]]));
  return { siteName: siteName || unnamed, ...otherwise, ...renamed, ...variables };
};

const hasLink = (variables: Variables): boolean =>
  Object.hasOwn(variables, 'link') && typeof variables.link === 'string' && variables.link !== '';

/**
 * Fills a template in: `{{name}}` escaped in html and as it is in text and subject, `{{{name}}}` as it is; dotted
 * paths; what is missing is empty; nothing is evaluated (contract 5, "Templates"). A part over 1 MiB → 400
 * `INVALID_MAIL`. A part that the template has not is `null`; the subject may come out empty.
 */
export const renderTemplate = (template: MailTemplate, variables: Variables): MailContent => {
  const values = named(template, variables);
  const content: MailContent = (hasLink(values) ? undefined : template.withoutLink) ?? template;
  const { subject, html, text } = content;
  return {
    subject: interpolateSubject(subject, values),
    html: html === null ? null : interpolateHtml(html, values),
    text: text === null ? null : interpolateText(text, values),
  };
};
