import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, ok } from './answer.ts';
import { bouncesSoftly, type EventKind, type Outcome, outcomeOf, refuseBySwitch } from './outcomes.ts';
import type { Webhooks } from './webhooks.ts';

/** A mail as it is handed in. */
export interface Mail {
  readonly from?: unknown;
  readonly to?: unknown;
  readonly subject?: unknown;
  readonly html?: unknown;
  readonly headers?: unknown;
  readonly tags?: unknown;
}

interface Announced {
  readonly mail: Mail;
  readonly id: string;
  readonly broadcastId?: string;
}

/** Between the events of a mail: enough for their times to differ, and for a person to see them come. */
const pauseMs = 80;

const addressesOf = ({ to }: Mail): string[] => [to].flat().map(String);

const tagsOf = ({ tags }: Mail): Record<string, string> =>
  Object.fromEntries((Array.isArray(tags) ? tags : []).map(({ name, value }) => [String(name), String(value)]));

const bounceOf = (to: readonly string[]) => ({
  message: 'The address does not take mails.',
  subType: 'General',
  type: to.every(bouncesSoftly) ? 'Transient' : 'Permanent',
});

/** Recipients by what becomes of their mail. */
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

/** Mails on their way: the emulator behind keeps them for the inbox, and events tell what became of them. */
export class Mails {
  readonly #emulator: string;
  readonly #webhooks: Webhooks;
  /** The last event of each mail, which the provider shows with it. */
  readonly #last = new Map<string, EventKind>();
  /** The mails to each address, oldest first: a reader who waits for one asks often. */
  readonly #idsTo = new Map<string, string[]>();

  constructor(emulator: string, webhooks: Webhooks) {
    this.#emulator = emulator;
    this.#webhooks = webhooks;
  }

  /** Takes one mail or a batch (`path` says which), once per idempotency key. */
  async take(path: '/emails' | '/emails/batch', body: string, idempotencyKey: string | undefined): Promise<Answer> {
    const given = JSON.parse(body) as Mail | Mail[];
    const mails = [given].flat();
    refuseBySwitch(mails.flatMap(addressesOf));
    const answer = await this.#ask(path, body, idempotencyKey);
    if (answer.status !== 200) return answer;
    const { data = [answer.body] } = answer.body as { readonly data?: unknown[] };
    for (const [index, mail] of mails.entries()) {
      const { id } = data[index] as { readonly id: string };
      void this.#announce({ mail, id });
    }
    return answer;
  }

  /** Sends one mail of a broadcast. */
  async sendOf(broadcastId: string, mail: Mail): Promise<void> {
    const { body } = await this.#ask('/emails', JSON.stringify(mail), undefined);
    void this.#announce({ mail, id: (body as { readonly id: string }).id, broadcastId });
  }

  /** What is known of a mail, with its last event. */
  async show(id: string): Promise<Answer> {
    const response = await fetch(`${this.#emulator}/emails/${encodeURIComponent(id)}`);
    const body = (await response.json()) as Record<string, unknown>;
    const last = this.#last.get(id);
    return { status: response.status, body: last ? { ...body, last_event: last.slice('email.'.length) } : body };
  }

  /** The mails to one address, oldest first. */
  async listTo(address: string): Promise<Answer> {
    const answers = await Promise.all((this.#idsTo.get(address) ?? []).map((id) => this.show(id)));
    return ok({ object: 'list', has_more: false, data: answers.map(({ body }) => body) });
  }

  async #ask(path: string, body: string, idempotencyKey: string | undefined): Promise<Answer> {
    const response = await fetch(`${this.#emulator}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) },
      body,
    });
    return { status: response.status, body: await response.json() };
  }

  /** Tells of a mail once, however often it is handed in. */
  async #announce({ mail, id, broadcastId }: Announced): Promise<void> {
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
