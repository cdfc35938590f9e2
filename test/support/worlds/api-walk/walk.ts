import { expect } from 'vitest';
import type { OpenApi } from '../../../../shared/http/openapi/describe-api.ts';
import { type Answer, call } from '../../clients/client.ts';
import { JsonValidator } from './json-validator.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly example?: unknown;
}

interface Described {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example: unknown } } };
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

interface Found extends Described {
  readonly path: string;
  readonly method: string;
}

/**
 * What of an example only this stack knows: ids, tokens, codes, addresses. Everything else is sent as the document has
 * it.
 */
export interface Known {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

export type Credentials = Readonly<Record<string, string>>;

export interface Data {
  readonly data: Readonly<Record<string, string>>;
}

/** Sends the examples of an OpenAPI document to the API that it describes, and holds every answer to it. */
export class ApiWalk {
  /** Scheme → key or token, as `components.securitySchemes` names them. */
  credentials: Credentials = {};
  /** What stands for a placeholder in every path, unless said otherwise. */
  params: Readonly<Record<string, string>> = {};
  readonly #base: string;
  readonly #validator: JsonValidator;
  readonly #operations: ReadonlyMap<string, Found>;
  readonly #walked = new Set<string>();

  constructor(base: string, document: OpenApi) {
    this.#base = base;
    this.#validator = new JsonValidator(document);
    this.#operations = new Map(
      Object.entries(document.paths).flatMap(([path, operations]) =>
        Object.entries(operations).map(([method, operation]) => [
          operation.operationId,
          { ...(operation as unknown as Described), path, method },
        ]),
      ),
    );
  }

  get operations(): readonly Found[] {
    return [...this.#operations.values()];
  }

  /** Operations whose examples have not been sent. */
  get missing(): string[] {
    return [...this.#operations.keys()].filter((id) => !this.#walked.has(id));
  }

  /** Sends the example of an operation and expects its success, in the form that the document gives it. */
  async run<Body = Data>(id: string, known: Known = {}): Promise<Answer<Body>> {
    const operation = this.#operations.get(id);
    if (!operation) throw new Error(`There is no operation ${id}`);
    this.#walked.add(id);
    const { body, ...request } = this.#request(operation, known);
    const answer = await call<Body>(this.#base, operation.method.toUpperCase(), this.#address(operation, known), {
      headers: request.headers,
      ...(body === undefined ? {} : { body }),
    });
    const [status = ''] = Object.keys(operation.responses).filter((code) => /^[23]/.test(code));
    expect(`${id} ${answer.status} ${JSON.stringify(answer.body).slice(0, 1000)}`).toMatch(`${id} ${status} `);
    this.#expectFits(operation, status, answer);
    return answer;
  }

  /** Sends a request that is to be refused, and expects the error body as the document has it for that status. */
  async refused(id: string, status: number, options: Parameters<typeof call>[3]): Promise<Answer> {
    const operation = this.#operations.get(id);
    if (!operation) throw new Error(`There is no operation ${id}`);
    const answer = await call(this.#base, operation.method.toUpperCase(), this.#address(operation, {}), options);
    expect({ id, status: answer.status, body: answer.body }).toMatchObject({ id, status, body: { success: false } });
    expect(operation.responses, id).toHaveProperty(String(status));
    const schema = ['components', 'responses', `Error${status}`, 'content', 'application/json', 'schema'];
    expect(this.#validator.problems(schema, answer.body), id).toBeUndefined();
    return answer;
  }

  #expectFits({ operationId, path, method, responses }: Found, status: string, answer: Answer<unknown>): void {
    expect(answer.headers.get('x-request-id'), operationId).toMatch(/./);
    const [type] = Object.keys(responses[status]?.content ?? {});
    if (!type) return;
    expect(answer.headers.get('content-type'), operationId).toContain(type);
    const place = ['paths', path, method, 'responses', status, 'content', type, 'schema'];
    expect(this.#validator.problems(place, answer.body), operationId).toBeUndefined();
  }

  #request(operation: Found, known: Known) {
    const { operationId, path, method, parameters = [], requestBody } = operation;
    const headers = new Map<string, string>();
    for (const { name, in: place, example } of parameters) {
      const value = known.headers?.[name] ?? example;
      if (value === undefined) continue;
      if (place === 'header') headers.set(name, String(value));
      if (place === 'cookie') headers.set('cookie', `${name}=${value}`);
    }
    if (known.headers?.cookie) headers.set('cookie', known.headers.cookie);
    for (const scheme of Object.keys(operation.security[0] ?? {})) {
      const secret = this.credentials[scheme];
      if (secret === undefined) throw new Error(`${operationId} needs the ${scheme}`);
      if (scheme.endsWith('Key')) headers.set('x-api-key', secret);
      else headers.set('authorization', `Bearer ${secret}`);
    }
    if (!requestBody) return { headers: Object.fromEntries(headers) };
    const { example } = requestBody.content['application/json'];
    const place = ['paths', path, method, 'requestBody', 'content', 'application/json', 'schema'];
    const body = Array.isArray(example) ? (example as unknown) : { ...(example as object), ...known.body };
    for (const sent of [example, body]) expect(this.#validator.problems(place, sent), operationId).toBeUndefined();
    expect(Object.keys(body as object).sort(), operationId).toEqual(Object.keys(example as object).sort());
    return { headers: Object.fromEntries(headers), body };
  }

  #address({ path, parameters = [] }: Found, known: Known): string {
    const query = new URLSearchParams();
    for (const { name, in: place, example } of parameters) {
      if (place !== 'query') continue;
      if (name === 'filters') {
        for (const [field, value] of Object.entries((example as object | undefined) ?? {})) query.set(field, value);
      } else {
        const value = known.query?.[name] ?? example;
        if (value !== undefined) query.set(name, String(value));
      }
    }
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const example = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.example;
      return encodeURIComponent(known.params?.[name] ?? this.params[name] ?? String(example));
    });
    return query.size === 0 ? filled : `${filled}?${query}`;
  }
}
