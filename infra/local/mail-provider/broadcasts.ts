import { randomUUID } from 'node:crypto';
import type { Account, Accounts, Broadcast, Contact } from './accounts.ts';
import type { Mails } from './mails.ts';
import { created, invalid, listOf, notFound, ok, type Reply, type Request, textIn } from './reply.ts';

const pollMs = 500;

const find = ({ broadcasts }: Account, id = ''): Broadcast => {
  const broadcast = broadcasts.get(id);
  if (!broadcast) throw notFound('Broadcast');
  return broadcast;
};

const personal = (html: string, contact: Contact, unsubscribeUrl: string): string =>
  html
    .replaceAll(/\{\{\{\s*RESEND_UNSUBSCRIBE_URL\s*\}\}\}/g, unsubscribeUrl)
    .replaceAll(/\{\{\{\s*(?:contact\.first_name|FIRST_NAME)(?:\|([^}]*))?\s*\}\}\}/g, (_, otherwise = '') =>
      String(contact.first_name ?? otherwise),
    );

/** Drafts, scheduled and sent broadcasts. They go to all contacts who have not unsubscribed. */
export class Broadcasts {
  readonly #accounts: Accounts;
  readonly #mails: Mails;
  readonly #origin: string;

  constructor(accounts: Accounts, mails: Mails, origin: string) {
    this.#accounts = accounts;
    this.#mails = mails;
    this.#origin = origin;
    setInterval(() => this.#sendScheduled().catch(() => undefined), pollMs).unref();
  }

  list(account: Account, { query }: Request): Reply {
    const all = [...account.broadcasts.values()].reverse();
    return listOf(
      all.map(({ html: _html, from: _from, subject: _subject, ...broadcast }) => broadcast),
      query,
    );
  }

  show(account: Account, { params: [id] }: Request): Reply {
    return ok({ object: 'broadcast', ...find(account, id) });
  }

  async create(account: Account, { body }: Request): Promise<Reply> {
    const audienceId = account.audience(textIn(body, body.segment_id === undefined ? 'audience_id' : 'segment_id')).id;
    if (body.scheduled_at !== undefined && body.send !== true) throw invalid('`scheduled_at` needs `send: true`.');
    const broadcast: Broadcast = {
      id: randomUUID(),
      audience_id: audienceId,
      from: textIn(body, 'from'),
      subject: textIn(body, 'subject'),
      html: textIn(body, 'html'),
      status: 'draft',
      created_at: new Date().toISOString(),
      scheduled_at: null,
      sent_at: null,
    };
    account.broadcasts.set(broadcast.id, broadcast);
    if (body.send === true) await this.#start(account, broadcast, body.scheduled_at);
    return created({ id: broadcast.id });
  }

  async send(account: Account, { params: [id], body }: Request): Promise<Reply> {
    const broadcast = find(account, id);
    if (broadcast.status !== 'draft') throw invalid('Only a draft can be sent; this broadcast is sent or scheduled.');
    await this.#start(account, broadcast, body.scheduled_at);
    return ok({ id: broadcast.id });
  }

  remove(account: Account, { params: [id] }: Request): Reply {
    const broadcast = find(account, id);
    if (broadcast.status === 'sent') throw invalid('A broadcast that has been sent cannot be deleted.');
    account.broadcasts.delete(broadcast.id);
    return ok({ object: 'broadcast', id: broadcast.id, deleted: true });
  }

  async #start(account: Account, broadcast: Broadcast, scheduledAt: unknown): Promise<void> {
    if (scheduledAt === undefined) return this.#deliver(account, broadcast);
    const at = new Date(String(scheduledAt));
    if (Number.isNaN(at.getTime())) throw invalid('`scheduled_at` is not a date.');
    account.broadcasts.set(broadcast.id, { ...broadcast, status: 'queued', scheduled_at: at.toISOString() });
  }

  async #deliver(account: Account, broadcast: Broadcast): Promise<void> {
    const { id, audience_id, from, subject, html } = broadcast;
    account.broadcasts.set(id, { ...broadcast, status: 'sent', sent_at: new Date().toISOString() });
    const contacts = account.audiences.get(audience_id)?.contacts.values() ?? [];
    const recipients = [...contacts].filter(({ unsubscribed }) => !unsubscribed);
    for (const contact of recipients) {
      const url = `${this.#origin}/unsubscribe/${contact.id}`;
      const headers = { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
      await this.#mails.sendOf(id, { from, to: [contact.email], subject, html: personal(html, contact, url), headers });
    }
  }

  async #sendScheduled(): Promise<void> {
    const now = new Date().toISOString();
    for (const account of this.#accounts.all()) {
      for (const broadcast of account.broadcasts.values()) {
        const { status, scheduled_at } = broadcast;
        if (status === 'queued' && scheduled_at !== null && scheduled_at <= now)
          await this.#deliver(account, broadcast);
      }
    }
  }
}
