import * as v from 'valibot';
import { maxRecipients, maxSubjectLength } from '../../shared/mail/check-mail.ts';
import { JsonObject, JsonObjects, success } from '../schemas.ts';

/** The domain validates it, because the specification fixes the messages; the metadata is for the API description. */
const field = (metadata: Readonly<Record<string, unknown>>) => v.optional(v.pipe(v.unknown(), v.metadata(metadata)));

const addresses = (description: string) => ({
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: maxRecipients }],
  description: `${description}: email addresses, or Name <address>.`,
});
const text = (description: string) => ({ type: ['string', 'null'], description });

const addressing = {
  to: field(addresses('Recipients')),
  replyTo: field(addresses('Address that replies go to')),
};

const words = {
  subject: field({ ...text('One line.'), maxLength: maxSubjectLength }),
  html: field(text('In addition to or instead of text.')),
  text: field(text('In addition to or instead of html.')),
};

const variables = {
  variables: field({
    type: ['object', 'null'],
    description: 'The values of the variables in the content or template.',
  }),
};

/** With content, or from a template. */
export const SendBody = v.pipe(
  JsonObject,
  v.union([
    v.looseObject({ ...addressing, ...words, ...variables }),
    v.looseObject({
      ...addressing,
      templateId: field(text('The id of a template of the project.')),
      templateName: field(text('Instead of the id: the name or key of a template, without regard to case.')),
      ...variables,
    }),
  ]),
);

export const BatchBody = v.pipe(JsonObjects, v.array(v.looseObject({ ...addressing, ...words })));

export const SendAnswer = success(
  v.object({
    /** Also the id in the log. */
    id: v.string(),
    provider: v.picklist(['default', 'byok']),
    monthlyUsage: v.number(),
    monthlyLimit: v.number(),
  }),
);

export const BatchAnswer = success(
  v.array(v.union([v.object({ id: v.string() }), v.object({ error: v.object({ message: v.string() }) })])),
);

/** No pages, so `page` and `limit` are rejected. */
export const MailLogsQuery = v.strictObject({});

const MailLog = v.object({
  _id: v.string(),
  providerEmailId: v.nullable(v.string()),
  to: v.array(v.string()),
  subject: v.string(),
  status: v.picklist(['queued', 'sent', 'delivered', 'bounced', 'complained', 'failed']),
  usingByok: v.boolean(),
  templateUsed: v.nullable(v.string()),
  /** Of a failure or bounce, or of the last attempt. */
  reason: v.nullable(v.string()),
  sentAt: v.date(),
});

export const MailLogsAnswer = success(v.array(MailLog));
export const MailLogAnswer = success(
  v.object({
    dbLog: MailLog,
    /** Without the content; `null` if the provider has forgotten the email. */
    providerStatus: v.nullable(v.looseObject({})),
  }),
);
