import type { OneOrMore, WriteOptions } from './collection.ts';
import { below, dataBy, type Parts, type RequestOptions, type Send } from './connection.ts';

export interface Mail {
  readonly to: OneOrMore<string>;
  readonly replyTo?: OneOrMore<string>;
  readonly subject?: string;
  readonly html?: string;
  readonly text?: string;
  /** Instead of content: a template. */
  readonly templateId?: string;
  readonly templateName?: string;
  readonly variables?: { readonly [name: string]: unknown };
}

export interface AcceptedMail {
  readonly id: string;
  readonly provider: 'default' | 'byok';
  readonly monthlyUsage: number;
  readonly monthlyLimit: number;
}

export interface MailLog {
  readonly _id: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly status: 'queued' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'failed';
  readonly reason: string | null;
  readonly sentAt: string;
  /** The id for `mail.log`; `null` until the provider has the mail. */
  readonly providerEmailId: string | null;
  readonly templateUsed: string | null;
  readonly usingByok: boolean;
}

type Fields = { readonly [field: string]: unknown };

/** The response of the mail provider for a created or changed record. */
export type Made = Fields & { readonly id: string };

const prefix = '/api/mail';

/** The emails of a project, with the secret key. */
export const mailOf = (send: Send) => {
  const ask = <T>(method: string, path: string, parts?: Parts): Promise<T> =>
    dataBy(send)(method, prefix + path, parts);
  const write = <T>(method: string, path: string, body: unknown, { idempotencyKey, signal }: WriteOptions = {}) => {
    const headers = { 'idempotency-key': idempotencyKey };
    return ask<T>(method, path, { body, headers, signal });
  };
  const of = (path: string) => ({
    list: ({
      signal,
      ...query
    }: { readonly limit?: number; readonly after?: string; readonly before?: string } & RequestOptions = {}) =>
      ask<Fields>('GET', path, { query, signal }),
    create: (body: Fields, options?: WriteOptions) => write<Made>('POST', path, body, options),
    delete: (id: string, options?: WriteOptions) => write<Fields>('DELETE', below(path, id), undefined, options),
  });
  return {
    send: (mail: Mail, options?: WriteOptions) => write<AcceptedMail>('POST', '/send', mail, options),
    sendBatch: (mails: readonly Mail[], options?: WriteOptions) =>
      write<({ readonly id: string } | { readonly error: { readonly message: string } })[]>(
        'POST',
        '/send-batch',
        mails,
        options,
      ),
    logs: (options?: RequestOptions) => ask<MailLog[]>('GET', '/logs', options),
    log: (id: string, options?: RequestOptions) =>
      ask<{ readonly dbLog: MailLog; readonly providerStatus: Fields | null }>('GET', below('/logs', id), options),
    audiences: of('/audiences'),
    contacts: (audienceId: string) => {
      const path = `${below('/audiences', audienceId)}/contacts`;
      return {
        ...of(path),
        update: (id: string, body: Fields, options?: WriteOptions) =>
          write<Made>('PATCH', below(path, id), body, options),
      };
    },
    broadcasts: {
      ...of('/broadcasts'),
      get: (id: string, options?: RequestOptions) => ask<Fields>('GET', below('/broadcasts', id), options),
      send: (id: string, options?: WriteOptions) =>
        write<Made>('POST', `${below('/broadcasts', id)}/send`, undefined, options),
    },
  };
};
