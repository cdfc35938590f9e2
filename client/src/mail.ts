import type { Send } from './connection.ts';

type OneOrMore<T> = T | readonly T[];

export interface Mail {
  readonly to: OneOrMore<string>;
  readonly replyTo?: OneOrMore<string>;
  readonly subject?: string;
  readonly html?: string;
  readonly text?: string;
  /** Or the words of a template. */
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
  readonly [field: string]: unknown;
}

type Fields = { readonly [field: string]: unknown };

const prefix = '/api/mail';

/** Mails of the project, with its secret key. */
export const mailOf = (send: Send) => {
  const ask = async <T = unknown>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await send<{ readonly data: T }>(method, prefix + path, body === undefined ? {} : { body });
    return answer.data;
  };
  const of = (path: string) => ({
    list: (query: { readonly limit?: number; readonly after?: string; readonly before?: string } = {}) =>
      send<{ readonly data: Fields }>('GET', prefix + path, { query: { ...query } }).then(({ data }) => data),
    create: (body: Fields) => ask<Fields>('POST', path, body),
    delete: (id: string) => ask<Fields>('DELETE', `${path}/${encodeURIComponent(id)}`),
  });
  return {
    send: (mail: Mail) => ask<AcceptedMail>('POST', '/send', mail),
    sendBatch: (mails: readonly Mail[]) =>
      ask<({ readonly id: string } | { readonly error: { readonly message: string } })[]>('POST', '/send-batch', mails),
    logs: () => ask<MailLog[]>('GET', '/logs'),
    log: (id: string) =>
      ask<{ readonly dbLog: MailLog; readonly providerStatus: Fields | null }>(
        'GET',
        `/logs/${encodeURIComponent(id)}`,
      ),
    audiences: of('/audiences'),
    contacts: (audienceId: string) => {
      const path = `/audiences/${encodeURIComponent(audienceId)}/contacts`;
      return {
        ...of(path),
        update: (id: string, body: Fields) => ask<Fields>('PATCH', `${path}/${encodeURIComponent(id)}`, body),
      };
    },
    broadcasts: {
      ...of('/broadcasts'),
      get: (id: string) => ask<Fields>('GET', `/broadcasts/${encodeURIComponent(id)}`),
      send: (id: string) => ask<Fields>('POST', `/broadcasts/${encodeURIComponent(id)}/send`),
    },
  };
};
