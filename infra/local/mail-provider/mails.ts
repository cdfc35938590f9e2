import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseSecrets, sign } from '../../../shared/mail/event-signature.ts';
import { ok, ProviderError, type Reply } from './reply.ts';

/** The pauses before the retries of a failed delivery. */
const retryMs = [500, 1000, 2000, 4000, 8000];

export interface WebhookTarget {
  readonly url: string;
  /** The receiver's setting. Its first secret signs; without a valid one, nothing is sent. */
  readonly secrets: string;
}

/** Delivers signed events like the provider: each at most six times, until the receiver accepts it. */
export class Webhooks {
  readonly #url: string;
  readonly #secret: Buffer | undefined;

  constructor({ url, secrets }: WebhookTarget) {
    this.#url = url;
    this.#secret = parseSecrets(secrets)[0];
  }

  async send(type: string, data: object): Promise<void> {
    if (!this.#secret) return;
    const body = Buffer.from(JSON.stringify({ type, created_at: new Date().toISOString(), data }));
    const id = `msg_${randomUUID()}`;
    for (const wait of [0, ...retryMs]) {
      await pause(wait, undefined, { ref: false });
      if (await this.#deliver(this.#secret, id, body)) return;
    }
  }

  async #deliver(secret: Buffer, id: string, body: Buffer): Promise<boolean> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = {
      'content-type': 'application/json',
      'svix-id': id,
      'svix-timestamp': timestamp,
      'svix-signature': sign(secret, id, timestamp, body),
    };
    try {
      const signal = AbortSignal.timeout(10_000);
      const response = await fetch(this.#url, { method: 'POST', headers, body, signal });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false;
    }
  }
}

/** An email in a request. */
interface Mail {
  readonly from?: unknown;
  readonly to?: unknown;
  readonly subject?: unknown;
  readonly html?: unknown;
  readonly headers?: unknown;
  readonly tags?: unknown;
}

interface SentMail {
  readonly mail: Mail;
  readonly id: string;
  readonly broadcastId?: string;
}

/** The events of an email to one address, in their order. */
type Outcome = readonly EventKind[];

type EventKind = 'email.sent' | 'email.delivered' | 'email.delivery_delayed' | 'email.bounced' | 'email.complained';

const delivered: Outcome = ['email.sent', 'email.delivered'];

/** The provider's test addresses at `resend.dev`, and some more. */
const outcomes: ReadonlyMap<string, Outcome> = new Map([
  ['bounced', ['email.sent', 'email.bounced']],
  ['softbounced', ['email.sent', 'email.bounced']],
  ['complained', ['email.sent', 'email.delivered', 'email.complained']],
  ['delayed', ['email.sent', 'email.delivery_delayed']],
  ['silent', []],
]);

/** `bounced` for `bounced+anything@resend.dev`; empty for other addresses. */
const testNameOf = (address: string): string =>
  /^(?:.*<)?([a-z]+)(?:\+[^@<>]*)?@resend\.dev>?$/i.exec(address)?.[1]?.toLowerCase() ?? '';

const outcomeOf = (address: string): Outcome => outcomes.get(testNameOf(address)) ?? delivered;

/** True if a bounce at this address is temporary. */
const bouncesSoftly = (address: string): boolean => testNameOf(address) === 'softbounced';

/** Throws 429 for emails to `ratelimited@resend.dev` and 500 for emails to `error@resend.dev`. */
const requireNoErrorAddress = (addresses: readonly string[]): void => {
  const names = new Set(addresses.map(testNameOf));
  if (names.has('ratelimited')) {
    throw new ProviderError(
      429,
      'rate_limit_exceeded',
      'Too many requests. Please limit the number of requests per second.',
      {
        'retry-after': '1',
      },
    );
  }
  if (names.has('error')) throw new ProviderError(500, 'application_error', 'An unexpected error occurred.');
};

/** The pause between the events of an email, so that their times differ. */
const pauseMs = 80;

const addressesOf = ({ to }: Mail): string[] => [to].flat().map(String);

const tagsOf = ({ tags }: Mail): Record<string, string> =>
  Object.fromEntries((Array.isArray(tags) ? tags : []).map(({ name, value }) => [String(name), String(value)]));

const bounceOf = (to: readonly string[]) => ({
  message: 'The address does not accept email.',
  subType: 'General',
  type: to.every(bouncesSoftly) ? 'Transient' : 'Permanent',
});

/** Recipients, grouped by the outcome of their email. */
const groupsOf = (mail: Mail): readonly (readonly [Outcome, readonly string[]])[] => {
  const groups = new Map<string, [Outcome, string[]]>();
  for (const address of addressesOf(mail)) {
    const outcome = outcomeOf(address);
    const key = `${outcome.join()} ${bouncesSoftly(address)}`;
    const [, addresses] = groups.get(key) ?? [outcome, []];
    groups.set(key, [outcome, [...addresses, address]]);
  }
  return [...groups.values()];
};

/** Sends emails to the emulator, which shows them in the inbox, and sends events about their delivery. */
export class Mails {
  readonly #emulator: string;
  readonly #webhooks: Webhooks;
  /** The last event of each email. */
  readonly #last = new Map<string, EventKind>();
  /** The ids of the emails to each address, oldest first. */
  readonly #idsTo = new Map<string, string[]>();

  constructor(emulator: string, webhooks: Webhooks) {
    this.#emulator = emulator;
    this.#webhooks = webhooks;
  }

  /** Sends one email or a batch, one time per idempotency key. */
  async send(path: '/emails' | '/emails/batch', body: string, idempotencyKey: string | undefined): Promise<Reply> {
    const parsed = JSON.parse(body) as Mail | Mail[];
    const mails = [parsed].flat();
    requireNoErrorAddress(mails.flatMap(addressesOf));
    const reply = await this.#post(path, body, idempotencyKey);
    if (reply.status !== 200) return reply;
    const { data = [reply.body] } = reply.body as { readonly data?: unknown[] };
    for (const [index, mail] of mails.entries()) {
      const { id } = data[index] as { readonly id: string };
      void this.#sendEvents({ mail, id });
    }
    return reply;
  }

  /** Sends one email of a broadcast. */
  async sendOf(broadcastId: string, mail: Mail): Promise<void> {
    const { body } = await this.#post('/emails', JSON.stringify(mail), undefined);
    void this.#sendEvents({ mail, id: (body as { readonly id: string }).id, broadcastId });
  }

  /** Returns an email with its last event. */
  async show(id: string): Promise<Reply> {
    const response = await fetch(`${this.#emulator}/emails/${encodeURIComponent(id)}`);
    const body = (await response.json()) as Record<string, unknown>;
    const last = this.#last.get(id);
    return { status: response.status, body: last ? { ...body, last_event: last.slice('email.'.length) } : body };
  }

  /** The emails to one address, oldest first. */
  async listTo(address: string): Promise<Reply> {
    const replies = await Promise.all((this.#idsTo.get(address) ?? []).map((id) => this.show(id)));
    return ok({ object: 'list', has_more: false, data: replies.map(({ body }) => body) });
  }

  async #post(path: string, body: string, idempotencyKey: string | undefined): Promise<Reply> {
    const response = await fetch(`${this.#emulator}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) },
      body,
    });
    return { status: response.status, body: await response.json() };
  }

  /** Sends the events of an email, one time per id. */
  async #sendEvents({ mail, id, broadcastId }: SentMail): Promise<void> {
    if (this.#last.has(id)) return;
    this.#last.set(id, 'email.sent');
    for (const address of new Set(addressesOf(mail))) {
      this.#idsTo.set(address, [...(this.#idsTo.get(address) ?? []), id]);
    }
    const common = {
      created_at: new Date().toISOString(),
      email_id: id,
      from: mail.from,
      subject: mail.subject,
      tags: tagsOf(mail),
      ...(broadcastId && { broadcast_id: broadcastId }),
    };
    for (const [outcome, to] of groupsOf(mail)) {
      for (const kind of outcome) {
        await pause(pauseMs, undefined, { ref: false });
        this.#last.set(id, kind);
        void this.#webhooks.send(kind, { ...common, to, ...(kind === 'email.bounced' && { bounce: bounceOf(to) }) });
      }
    }
  }
}
