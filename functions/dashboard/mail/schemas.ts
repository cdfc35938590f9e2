import * as v from 'valibot';
import { isPlainObject } from '../../../shared/core/json.ts';
import { newTemplateEntries, templateChangesEntries } from '../../../shared/mail/templates/templates.ts';
import { strictBody, success } from '../../schemas.ts';
import { pageOf } from '../schemas.ts';

export const NewTemplateBody = strictBody(newTemplateEntries);
export const TemplateChangesBody = strictBody(templateChangesEntries);

export const TestMailBody = strictBody({
  to: v.string('must be a String'),
  variables: v.optional(v.custom<Record<string, unknown>>(isPlainObject, 'must be an Object')),
});

const summary = {
  _id: v.string(),
  key: v.nullable(v.string()),
  name: v.string(),
  subject: v.string(),
  builtIn: v.boolean(),
  updatedAt: v.nullable(v.date()),
};

/** Lists omit `html` and `text`. */
export const TemplateAnswer = success(
  v.object({ ...summary, html: v.nullable(v.string()), text: v.nullable(v.string()) }),
);
export const TemplatePage = pageOf(v.object(summary));
const Suppression = v.object({
  email: v.string(),
  reason: v.picklist(['bounced', 'complained']),
  providerEmailId: v.nullable(v.string()),
  createdAt: v.date(),
});

export const SuppressionPage = pageOf(Suppression);
export const DeletedSuppressionAnswer = success(v.object({ email: v.string() }));
