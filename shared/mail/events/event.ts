import * as v from 'valibot';
import { cutText } from '../../core/bounded-text.ts';
import { type MailStatus, mailTag } from '../mail-log.ts';

/** What the provider's events make of a mail's status (contract 5, "Webhook"). */
const statusAfter: ReadonlyMap<string, MailStatus> = new Map([
  ['email.sent', 'sent'],
  ['email.delivered', 'delivered'],
  ['email.bounced', 'bounced'],
  ['email.complained', 'complained'],
  ['email.delivery_delayed', 'queued'],
]);

/** Every status that an event leaves, the weakest first: a repeated or late event does not replace a later one. */
export const rankedStatuses = [
  'sent',
  'queued',
  'delivered',
  'bounced',
  'complained',
] as const satisfies readonly MailStatus[];

/**
 * How much a status says about a mail, from 1; 0 for one that no event leaves. A mail may be delivered after a transient
 * bounce, which ranks just below.
 */
export const rankOf = (status: MailStatus, isTransient = false): number =>
  status === 'bounced' && isTransient
    ? rankOf('delivered') - 0.5
    : (rankedStatuses as readonly string[]).indexOf(status) + 1;

export interface MailEvent {
  /** The delivery's `svix-id` or `webhook-id`, the same however often it is delivered. */
  readonly id: string;
  readonly status: MailStatus;
  /** When it happened, by the provider's own clock. */
  readonly at: Date;
  readonly providerEmailId: string;
  /** The addresses that it is about; empty where it names none. */
  readonly to: readonly string[];
  /** The log's id, where we gave it to the provider. */
  readonly logId: string | undefined;
  /** A bounce that another try may heal. */
  readonly isTransient: boolean;
  /** What the receiving server said, where the event tells. */
  readonly reason: string | undefined;
}

const text = v.string();

/** What does not fit counts as left out: no event of the provider's is worth refusing for a detail. */
const Envelope = v.pipe(
  text,
  v.parseJson(),
  v.object({
    type: text,
    created_at: v.fallback(v.optional(text), undefined),
    data: v.object({
      email_id: v.pipe(text, v.nonEmpty()),
      to: v.fallback(
        v.union([
          v.array(text),
          v.pipe(
            text,
            v.transform((address) => [address]),
          ),
        ]),
        [],
      ),
      // A record would take arrays as well, so they come first.
      tags: v.fallback(
        v.union([v.array(v.object({ name: text, value: v.unknown() })), v.record(text, v.unknown())]),
        {},
      ),
      bounce: v.fallback(v.optional(v.object({ type: v.optional(text), message: v.optional(text) })), undefined),
    }),
  }),
);

type Tags = v.InferOutput<typeof Envelope>['data']['tags'];

const tagOf = (tags: Tags): string | undefined => {
  const value = Array.isArray(tags) ? tags.find(({ name }) => name === mailTag)?.value : tags[mailTag];
  return typeof value === 'string' && /^[0-9a-f]{24}$/.test(value) ? value : undefined;
};

const maxReasonLength = 500;

/** `undefined` for events of other kinds and for what is no event; `sentAt` stands in for a missing time. */
export const parseEvent = (id: string, body: Buffer, sentAt: Date): MailEvent | undefined => {
  const parsed = v.safeParse(Envelope, body.toString());
  if (!parsed.success) return undefined;
  const { type, created_at: createdAt = '', data } = parsed.output;
  const status = statusAfter.get(type);
  if (status === undefined) return undefined;
  const at = new Date(createdAt);
  return {
    id,
    status,
    at: Number.isNaN(at.getTime()) ? sentAt : at,
    providerEmailId: data.email_id,
    to: data.to,
    logId: tagOf(data.tags),
    isTransient: data.bounce?.type?.toLowerCase() === 'transient',
    reason: data.bounce?.message && cutText(data.bounce.message, maxReasonLength),
  };
};
