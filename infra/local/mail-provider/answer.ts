/** What the emulated provider answers. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request as its parts see it: `params` are the escaped parts of the path, decoded. */
export interface Request {
  readonly key: string;
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A refusal in the provider's own form. */
export class ProviderError extends Error {
  readonly answer: Answer;

  constructor(status: number, name: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.answer = { status, body: { statusCode: status, name, message }, headers };
  }
}

export const notFound = (what: string): ProviderError => new ProviderError(404, 'not_found', `${what} not found`);
export const invalid = (message: string): ProviderError => new ProviderError(422, 'validation_error', message);

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const created = (body: unknown): Answer => ({ status: 201, body });

/** A field that has to be a text with something in it; otherwise 422 as the provider words it. */
export const textIn = (body: Request['body'], field: string): string => {
  const value = body[field];
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(`Missing \`${field}\` field.`);
};

/** One page of a list: `limit` (20) from after or up to before an id, as the provider pages. */
export const listOf = <T extends { readonly id: string }>(items: readonly T[], query: URLSearchParams): Answer => {
  const limit = Number(query.get('limit') ?? 20);
  const indexOf = (id: string): number => items.findIndex((item) => item.id === id);
  const after = query.get('after');
  const before = query.get('before');
  const end = before === null ? items.length : Math.max(0, indexOf(before));
  const start = after === null ? (before === null ? 0 : Math.max(0, end - limit)) : indexOf(after) + 1;
  const data = items.slice(start, Math.min(end, start + limit));
  return ok({ object: 'list', has_more: before === null ? start + limit < end : start > 0, data });
};
