import * as v from 'valibot';
import { success } from './schemas.ts';

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
