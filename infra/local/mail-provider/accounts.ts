import { randomUUID } from 'node:crypto';
import { created, invalid, listOf, notFound, ok, type Reply, type Request, textIn } from './reply.ts';

export interface Contact {
  readonly id: string;
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly unsubscribed: boolean;
  readonly created_at: string;
}

interface Audience {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly contacts: Map<string, Contact>;
}

export interface Broadcast {
  readonly id: string;
  readonly audience_id: string;
  readonly from: string;
  readonly subject: string;
  readonly html: string;
  readonly status: 'draft' | 'queued' | 'sent';
  readonly created_at: string;
  readonly scheduled_at: string | null;
  readonly sent_at: string | null;
}

/** The data of one API key. */
export class Account {
  readonly audiences = new Map<string, Audience>();
  readonly broadcasts = new Map<string, Broadcast>();

  /** Throws 404 if the audience does not exist. */
  audience(id = ''): Audience {
    const audience = this.audiences.get(id);
    if (!audience) throw notFound('Audience');
    return audience;
  }
}

/** One account per API key. */
export class Accounts {
  readonly #byKey = new Map<string, Account>();

  of(key: string): Account {
    const account = this.#byKey.get(key) ?? new Account();
    this.#byKey.set(key, account);
    return account;
  }

  all(): IterableIterator<Account> {
    return this.#byKey.values();
  }
}

const newest = <T>(items: Iterable<T>): T[] => [...items].reverse();

const nameOr = (value: unknown, otherwise: string | null): string | null =>
  value === undefined ? otherwise : value === null ? null : String(value);

const contactIn = ({ contacts }: Audience, idOrEmail = ''): Contact => {
  const contact = contacts.get(idOrEmail) ?? [...contacts.values()].find(({ email }) => email === idOrEmail);
  if (!contact) throw notFound('Contact');
  return contact;
};

/** Routes of audiences, which the provider now also calls segments; `object` is the name in the request's path. */
export const audienceCalls = (object: 'audience' | 'segment') => ({
  list: (account: Account, { query }: Request): Reply =>
    listOf(
      newest(account.audiences.values()).map(({ contacts: _, ...audience }) => audience),
      query,
    ),
  create: (account: Account, { body }: Request): Reply => {
    const audience = { id: randomUUID(), name: textIn(body, 'name'), created_at: new Date().toISOString() };
    account.audiences.set(audience.id, { ...audience, contacts: new Map() });
    return created({ object, id: audience.id, name: audience.name });
  },
  remove: (account: Account, { params: [id] }: Request): Reply => {
    account.audiences.delete(account.audience(id).id);
    return ok({ object, id, deleted: true });
  },
});

export const contactCalls = {
  list: (account: Account, { params: [audienceId], query }: Request): Reply =>
    listOf(newest(account.audience(audienceId).contacts.values()), query),
  create: (account: Account, { params: [audienceId], body }: Request): Reply => {
    const { contacts } = account.audience(audienceId);
    const email = textIn(body, 'email');
    if (!email.includes('@')) throw invalid('Invalid `email` field.');
    const known = [...contacts.values()].find((contact) => contact.email === email);
    const contact: Contact = {
      id: known?.id ?? randomUUID(),
      email,
      first_name: nameOr(body.first_name, null),
      last_name: nameOr(body.last_name, null),
      unsubscribed: body.unsubscribed === true,
      created_at: known?.created_at ?? new Date().toISOString(),
    };
    contacts.set(contact.id, contact);
    return created({ object: 'contact', id: contact.id });
  },
  update: (account: Account, { params: [audienceId, contactId], body }: Request): Reply => {
    const audience = account.audience(audienceId);
    const contact = contactIn(audience, contactId);
    audience.contacts.set(contact.id, {
      ...contact,
      email: nameOr(body.email, null) ?? contact.email,
      first_name: nameOr(body.first_name, contact.first_name),
      last_name: nameOr(body.last_name, contact.last_name),
      unsubscribed: typeof body.unsubscribed === 'boolean' ? body.unsubscribed : contact.unsubscribed,
    });
    return ok({ object: 'contact', id: contact.id });
  },
  remove: (account: Account, { params: [audienceId, contactId] }: Request): Reply => {
    const audience = account.audience(audienceId);
    const { id } = contactIn(audience, contactId);
    audience.contacts.delete(id);
    return ok({ object: 'contact', contact: id, deleted: true });
  },
};
