import * as v from 'valibot';
import { listOf } from '../core/list-of.ts';
import { type WebhookEvent, webhookEvents } from '../events/event-types.ts';
import { invalidWebhook } from './receiver-url.ts';

const text = v.string('must be a String');
/** More than a webhook may name of anything: what exactly, and that each is named once, is told below. */
const texts = listOf(text, 1000, 'must have at most 1000 entries', 'must be an Array of Strings');
const enabled = v.optional(v.boolean('must be a Boolean'));

export const newWebhookEntries = { url: text, events: texts, collections: v.optional(v.nullable(texts)), enabled };

export const webhookChangesEntries = {
  url: v.optional(text),
  events: v.optional(texts),
  collections: v.optional(v.nullable(texts)),
  enabled,
};

type Output<E extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<E, undefined>>;

/** A webhook as it is asked for; `collections` left out or `null`: all that have a changes feed. */
export type NewWebhook = Output<typeof newWebhookEntries>;

/** What is to be changed of one; what is left out stays. */
export type WebhookChanges = Output<typeof webhookChangesEntries>;

const isEvent = (name: string): name is WebhookEvent => (webhookEvents as readonly string[]).includes(name);

const maxCollections = 100;

/** The events of a webhook: at least one, each once; else 400 `INVALID_WEBHOOK`. */
export const parseEvents = (names: readonly string[]): readonly WebhookEvent[] => {
  const known = [...new Set(names)].filter(isEvent);
  if (known.length > 0 && known.length === names.length) return known;
  throw invalidWebhook('events', `events must name one or more of ${webhookEvents.join(', ')}, each once.`);
};

/** The collections that it names; `undefined` for all that have a feed; none, or one twice → 400 `INVALID_WEBHOOK`. */
export const parseCollections = (names: readonly string[] | null | undefined): readonly string[] | undefined => {
  if (!names) return undefined;
  const isProper = names.length > 0 && names.length <= maxCollections && new Set(names).size === names.length;
  if (isProper) return names;
  throw invalidWebhook(
    'collections',
    `collections must name 1 to ${maxCollections} collections, each once. Leave it out, or send null, for all that have a changes feed.`,
  );
};
