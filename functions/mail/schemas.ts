import * as v from 'valibot';
import { maxRecipients, maxSubjectLength } from '../../shared/mail/check-mail.ts';
import { JsonObject, JsonObjects, success } from '../schemas.ts';

/**
 * A field that the domain checks, because the wording of its refusals is specified; the metadata is for the API
 * description.
 */
const field = (metadata: Readonly<Record<string, unknown>>) => v.optional(v.pipe(v.unknown(), v.metadata(metadata)));

const addresses = (description: string) => ({
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: maxRecipients }],
  description: `${description}: e-mail addresses, or Name <address>.`,
});
const text = (description: string) => ({ type: ['string', 'null'], description });

const addressing = {
  to: field(addresses('Who the mail goes to')),
  replyTo: field(addresses('Who answers go to')),
};

const words = {
  subject: field({ ...text('One line.'), maxLength: maxSubjectLength }),
  html: field(text('Besides or instead of text.')),
  text: field(text('Besides or instead of html.')),
};

const variables = {
  variables: field({ type: ['object', 'null'], description: 'What words or template are filled in with.' }),
};

/** A mail with its own words, or from a template. */
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
    /** The id of the job, which is that of the log too. */
    id: v.string(),
    provider: v.picklist(['default', 'byok']),
    monthlyUsage: v.number(),
    monthlyLimit: v.number(),
  }),
);

export const BatchAnswer = success(
  v.array(v.union([v.object({ id: v.string() }), v.object({ error: v.object({ message: v.string() }) })])),
);

/** The log has no pages: a parameter would be passed over. */
export const MailLogsQuery = v.strictObject({});

/** A row of the mail log. */
const MailLog = v.object({
  /** The id of the job, as `send` returns it. */
  _id: v.string(),
  providerEmailId: v.nullable(v.string()),
  to: v.array(v.string()),
  subject: v.string(),
  status: v.picklist(['queued', 'sent', 'delivered', 'bounced', 'complained', 'failed']),
  usingByok: v.boolean(),
  templateUsed: v.nullable(v.string()),
  /** Why it failed or bounced, or the last try did. */
  reason: v.nullable(v.string()),
  sentAt: v.date(),
});

/** Response of `list-mail-logs`. */
export const MailLogsAnswer = success(v.array(MailLog));
/** Response of `get-mail-log`. */
export const MailLogAnswer = success(
  v.object({
    dbLog: MailLog,
    /**
     * The provider's own object, without the words of the mail; `null` where the provider does not know it any more.
     */
    providerStatus: v.nullable(v.looseObject({})),
  }),
);
