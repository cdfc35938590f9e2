export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `params` are the variable segments of the path, decoded. */
export interface Request {
  readonly key: string;
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An error in the provider's own form. */
export class ProviderError extends Error {
  readonly reply: Reply;

  constructor(status: number, name: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.reply = { status, body: { statusCode: status, name, message }, headers };
  }
}

export const notFound = (what: string): ProviderError => new ProviderError(404, 'not_found', `${what} not found`);
export const invalid = (message: string): ProviderError => new ProviderError(422, 'validation_error', message);

export const ok = (body: unknown): Reply => ({ status: 200, body });
export const created = (body: unknown): Reply => ({ status: 201, body });

/** Returns a text field. Throws the provider's 422 if it is missing or empty. */
export const textIn = (body: Request['body'], field: string): string => {
  const value = body[field];
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(`Missing \`${field}\` field.`);
};

/** One page of a list: `limit` items (default 20) `after` or `before` an id. */
export const listOf = <T extends { readonly id: string }>(items: readonly T[], query: URLSearchParams): Reply => {
  const limit = Number(query.get('limit') ?? 20);
  const indexOf = (id: string): number => items.findIndex((item) => item.id === id);
  const after = query.get('after');
  const before = query.get('before');
  const end = before === null ? items.length : Math.max(0, indexOf(before));
  const start = after === null ? (before === null ? 0 : Math.max(0, end - limit)) : indexOf(after) + 1;
  const data = items.slice(start, Math.min(end, start + limit));
  return ok({ object: 'list', has_more: before === null ? start + limit < end : start > 0, data });
};
